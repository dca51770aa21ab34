// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory at addresses that user mode's page tables have too.
 *
 * The CPU stores by linear address under whatever CR3 is loaded. With page-table
 * isolation user mode's tables leave the kernel out, but for the 512 GiB of one P4D
 * entry, that of CPU_ENTRY_AREA_BASE, which all tables share (pti_clone_user_shared()).
 * So what hangs below a PUD entry there that the kernel does not use is in all of them
 * at once, with nothing to keep in step when processes come and go.
 *
 * User mode cannot read it, but with Meltdown it can: as it can the CPU entry area,
 * whose interrupt descriptors tell the kernel's address already.
 *
 * Tables are filled and emptied through the direct map, the memory is read and written
 * where the kernel has it; nobody but the CPU's store uses the alias.
 */

#include <linux/genalloc.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/smp.h>
#include <asm/cpufeature.h>
#include <asm/pgtable.h>
#include <asm/processor.h>
#include <asm/tlbflush.h>
#include "internal.h"

/* Of a slot, the GiB below one PUD entry. Its tables stay until ds_alias_exit(). */
struct slot {
	pud_t *entry;
	pmd_t *pmds;
	unsigned long address;
};

/* Held to map, unmap and claim. */
static DEFINE_MUTEX(alias_mutex);
static struct slot slots[64];
static unsigned int claimed;
static struct gen_pool *pool;

static pud_t *shared_puds(void)
{
	pgd_t *pgd = pgd_offset_pgd(__va(read_cr3_pa()), CPU_ENTRY_AREA_BASE);

	return pud_offset(p4d_offset(pgd, CPU_ENTRY_AREA_BASE), CPU_ENTRY_AREA_BASE);
}

static void flush(void *unused)
{
	__flush_tlb_all();
}

/* CPUs cache the upper levels as well, and may walk what they cache at any time. */
static void clear_entry(pud_t *entry)
{
	set_pud(entry, __pud(0));
	on_each_cpu(flush, NULL, 1);
}

static int claim_slot(void)
{
	struct slot *slot = &slots[claimed];
	pud_t *puds = shared_puds();
	unsigned int i;

	if (claimed == ARRAY_SIZE(slots))
		return -ENOMEM;
	slot->pmds = (pmd_t *)get_zeroed_page(GFP_KERNEL);
	if (!slot->pmds)
		return -ENOMEM;
	/* from the far end, as the kernel's own use starts at the near one */
	for (i = PTRS_PER_PUD; i--;) {
		if (cmpxchg(&puds[i].pud, 0, _KERNPG_TABLE | __pa(slot->pmds)))
			continue;
		slot->entry = &puds[i];
		slot->address = CPU_ENTRY_AREA_BASE + i * PUD_SIZE;
		if (gen_pool_add(pool, slot->address, PUD_SIZE, NUMA_NO_NODE))
			break;
		claimed++;
		return 0;
	}
	if (i < PTRS_PER_PUD)
		clear_entry(&puds[i]);
	free_page((unsigned long)slot->pmds);
	return -ENOMEM;
}

static pte_t *pte_of(unsigned long address, bool make)
{
	struct slot *slot = slots;
	unsigned long ptes;
	pmd_t *pmd;

	while (address - slot->address >= PUD_SIZE)
		slot++;
	pmd = &slot->pmds[pmd_index(address)];
	if (pmd_none(*pmd)) {
		ptes = make ? get_zeroed_page(GFP_KERNEL) : 0;
		if (!ptes)
			return NULL;
		set_pmd(pmd, __pmd(_KERNPG_TABLE | __pa(ptes)));
	}
	return (pte_t *)pmd_page_vaddr(*pmd) + pte_index(address);
}

static void unmap(unsigned long address, unsigned long pages)
{
	unsigned long i;
	pte_t *pte;

	for (i = 0; i < pages; i++) {
		pte = pte_of(address + i * PAGE_SIZE, false);
		if (pte)
			set_pte(pte, __pte(0));
	}
	/* the pages are freed next: no CPU may remember where they were */
	on_each_cpu(flush, NULL, 1);
}

/**
 * ds_alias_map() - show pages to user mode's page tables
 * @alias: gets where they are seen
 * @first: a page, in the direct map
 * @rest: the pages after it, of vmalloc()
 * @bytes: size of @rest, whole pages
 * @reason: says what was refused
 *
 * Without page-table isolation the kernel's own addresses will do; then the two
 * need not be neighbours.
 *
 * Context: process, sleeps.
 * Return: 0 or -ENOMEM.
 */
int ds_alias_map(struct ds_alias *alias, void *first, void *rest, u64 bytes,
		 struct ds_reason *reason)
{
	unsigned long i, pages = 1 + (bytes >> PAGE_SHIFT);
	unsigned long address;
	pte_t *pte;

	alias->pages = 0;
	alias->first = (unsigned long)first;
	alias->rest = (unsigned long)rest;
	if (!pool)
		return 0;

	mutex_lock(&alias_mutex);
	/* and one that stays unmapped, between this and the next */
	while (!(address = gen_pool_alloc(pool, (pages + 1) * PAGE_SIZE)))
		if (claim_slot())
			goto unlock;
	for (i = 0; i < pages; i++) {
		struct page *page = i ? vmalloc_to_page(rest + (i - 1) * PAGE_SIZE) :
					virt_to_page(first);

		pte = pte_of(address + i * PAGE_SIZE, true);
		if (!pte)
			goto unmap;
		/*
		 * global, so that a flush forgets it for user mode's PCID too; accessed
		 * and dirty, as the SDM asks. Not present before: nothing to flush.
		 */
		set_pte(pte, pte_set_flags(mk_pte(page, PAGE_KERNEL), _PAGE_GLOBAL));
	}
	mutex_unlock(&alias_mutex);
	alias->first = address;
	alias->rest = address + PAGE_SIZE;
	alias->pages = pages;
	return 0;

unmap:
	unmap(address, i);
	gen_pool_free(pool, address, (pages + 1) * PAGE_SIZE);
unlock:
	mutex_unlock(&alias_mutex);
	return ds_refuse(reason, -ENOMEM, "no room for %lu KiB in user mode's page tables",
			 pages << (PAGE_SHIFT - 10));
}

/**
 * ds_alias_unmap() - end of ds_alias_map()
 * @alias: what it gave; no CPU stores there
 *
 * When it returns, the pages can be freed.
 *
 * Context: process, sleeps.
 */
void ds_alias_unmap(struct ds_alias *alias)
{
	if (!alias->pages)
		return;
	mutex_lock(&alias_mutex);
	unmap(alias->first, alias->pages);
	gen_pool_free(pool, alias->first, (alias->pages + 1) * PAGE_SIZE);
	mutex_unlock(&alias_mutex);
}

/**
 * ds_alias_init() - be ready for page-table isolation, if it is on
 * @reason: says what is missing
 *
 * Context: process, sleeps.
 * Return: 0 or -ENOMEM.
 */
int ds_alias_init(struct ds_reason *reason)
{
	if (!boot_cpu_has(X86_FEATURE_PTI))
		return 0;
	pool = gen_pool_create(PAGE_SHIFT, NUMA_NO_NODE);
	if (!pool)
		return ds_refuse(reason, -ENOMEM, "no memory for a pool of addresses");
	return 0;
}

static void free_tables(struct slot *slot)
{
	unsigned int i;

	for (i = 0; i < PTRS_PER_PMD; i++)
		if (!pmd_none(slot->pmds[i]))
			free_page(pmd_page_vaddr(slot->pmds[i]));
	free_page((unsigned long)slot->pmds);
}

/**
 * ds_alias_exit() - end of ds_alias_init()
 *
 * Nothing is mapped any more. Context: process, sleeps.
 */
void ds_alias_exit(void)
{
	unsigned int i;

	if (!pool)
		return;
	for (i = 0; i < claimed; i++) {
		clear_entry(slots[i].entry);
		free_tables(&slots[i]);
	}
	claimed = 0;
	gen_pool_destroy(pool);
	pool = NULL;
}
