# SPDX-License-Identifier: GPL-2.0-only
#
# For users: `make help`. How the module itself is built is in Kbuild.

KERNEL ?= 6.1
export KERNEL CPU SMP ACCEL

ifneq ($(words $(CURDIR)),1)
$(error The directory '$(CURDIR)' has a blank in its name and neither make nor Kbuild can work there: move the checkout)
endif

harness := qemu/harness

help:
	@echo 'make demo     a crashing program and the branches that led to the crash, recorded in a guest'
	@echo 'make check    run all tests but the next'
	@echo 'make check-machine    what stock Linux and stock perf make of the emulated CPU'
	@echo 'make shell    a prompt in a guest, with the module loaded and btsdump on the path'
	@echo 'make paths    where QEMU, the kernel, the module and the rest lie, one NAME=path a line (with make -s)'
	@echo 'make module   build debugstore.ko for the kernel of KERNEL and say where it is'
	@echo 'make lint     warnings, sparse, checkpatch, clang-format, shellcheck'
	@echo 'make clean    remove what was built, but for QEMU and the kernels; make distclean removes these too'
	@echo
	@echo 'KERNEL=6.1 (default), 6.12, a release of Debian (6.1.0-50-amd64, say), or the path of an unpacked tree'
	@echo 'CPU=NAME of the emulated CPU (Nehalem)   SMP=number of CPUs (2)   ACCEL=tcg (default) or kvm'
	@echo
	@echo 'Packages that are missing are installed from Debian. What is built is kept in $${XDG_CACHE_HOME:-~/.cache}.'

demo check shell lint:
	@$(harness)/$@

check-machine:
	@DEBUGSTORE_CASES=cases-machine $(harness)/check

paths:
	@$(harness)/prepare demo

module:
	@$(harness)/prepare module

clean distclean:
	@$(harness)/clean $@

.PHONY: help demo check check-machine shell lint paths module clean distclean
