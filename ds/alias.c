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

#include <linux/bitmap.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <asm/cpufeature.h>
#include <asm/pgtable.h>
#include <asm/processor.h>
#include <asm/tlbflush.h>
#include "internal.h"

#define SLOT_PAGES	(PUD_SIZE / PAGE_SIZE)

/**
 * struct slot - the GiB below one PUD entry; claimed until ds_alias_exit()
 * @address: where it starts
 * @entry: the PUD entry
 * @pmds: the table it points to; the tables below stay once they are made
 * @used: which pages are taken
 */
struct slot {
	unsigned long address;
	pud_t *entry;
	pmd_t *pmds;
	unsigned long *used;
};

/* Held to map, unmap and claim. */
static DEFINE_MUTEX(alias_mutex);
static struct slot slots[64];
static unsigned int claimed;

static pud_t *shared_puds(void)
{
	pgd_t *pgd = pgd_offset_pgd(__va(read_cr3_pa()), CPU_ENTRY_AREA_BASE);

	return pud_offset(p4d_offset(pgd, CPU_ENTRY_AREA_BASE), CPU_ENTRY_AREA_BASE);
}

static int claim_entry(struct slot *slot)
{
	pud_t *puds = shared_puds();
	unsigned int i;

	/* from the far end, as the kernel's own use starts at the near one */
	for (i = PTRS_PER_PUD; i--;) {
		if (cmpxchg(&puds[i].pud, 0, _KERNPG_TABLE | __pa(slot->pmds)))
			continue;
		slot->entry = &puds[i];
		slot->address = CPU_ENTRY_AREA_BASE + i * PUD_SIZE;
		return 0;
	}
	return -ENOMEM;
}

static int claim_slot(void)
{
	struct slot *slot = &slots[claimed];

	if (claimed == ARRAY_SIZE(slots))
		return -ENOMEM;
	slot->used = bitmap_zalloc(SLOT_PAGES, GFP_KERNEL);
	if (!slot->used)
		return -ENOMEM;
	slot->pmds = (pmd_t *)get_zeroed_page(GFP_KERNEL);
	if (!slot->pmds)
		goto free_used;
	if (claim_entry(slot))
		goto free_pmds;
	claimed++;
	return 0;

free_pmds:
	free_page((unsigned long)slot->pmds);
free_used:
	bitmap_free(slot->used);
	return -ENOMEM;
}

static struct slot *slot_of(unsigned long address)
{
	struct slot *slot = slots;

	while (address - slot->address >= PUD_SIZE)
		slot++;
	return slot;
}

static unsigned long take_addresses(unsigned long pages)
{
	unsigned long page;
	struct slot *slot;

	for (slot = slots; slot < slots + claimed || !claim_slot(); slot++) {
		page = bitmap_find_next_zero_area(slot->used, SLOT_PAGES, 0, pages, 0);
		if (page >= SLOT_PAGES)
			continue;
		bitmap_set(slot->used, page, pages);
		return slot->address + page * PAGE_SIZE;
	}
	return 0;
}

static void give_addresses(unsigned long address, unsigned long pages)
{
	struct slot *slot = slot_of(address);

	bitmap_clear(slot->used, (address - slot->address) / PAGE_SIZE, pages);
}

static pte_t *pte_of(unsigned long address, bool make)
{
	pmd_t *pmd = &slot_of(address)->pmds[pmd_index(address)];
	unsigned long ptes;

	if (pmd_none(*pmd)) {
		ptes = make ? get_zeroed_page(GFP_KERNEL) : 0;
		if (!ptes)
			return NULL;
		set_pmd(pmd, __pmd(_KERNPG_TABLE | __pa(ptes)));
	}
	return (pte_t *)pmd_page_vaddr(*pmd) + pte_index(address);
}

static void flush(void *unused)
{
	__flush_tlb_all();
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
	if (!boot_cpu_has(X86_FEATURE_PTI))
		return 0;

	mutex_lock(&alias_mutex);
	/* and one that stays unmapped, between this and the next */
	address = take_addresses(pages + 1);
	if (!address)
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
	give_addresses(address, pages + 1);
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
	give_addresses(alias->first, alias->pages + 1);
	mutex_unlock(&alias_mutex);
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
 * ds_alias_exit() - take all tables down
 *
 * Nothing is mapped any more. Context: process, sleeps.
 */
void ds_alias_exit(void)
{
	for (; claimed; claimed--) {
		struct slot *slot = &slots[claimed - 1];

		set_pud(slot->entry, __pud(0));
		/* CPUs cache upper levels too, and may walk what they cache at any time */
		on_each_cpu(flush, NULL, 1);
		free_tables(slot);
		bitmap_free(slot->used);
	}
}
