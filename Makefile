# Builds hardneg. `make help` lists what there is to ask for.
#
#   BUILD=dir      where everything that is built goes     (default: build)
#   CC=clang       another compiler                        (default: gcc)
#   MARCH=native   compile for this processor alone        (default: any; hot loops choose at run time)
#   CFLAGS=...     optimisation and further flags          (default: -O3 -g)
#   MPI=1          with Open MPI, for `hardneg run --mpi`
#   DEPS=0         demo, test and the like install nothing
#   RPATH=0        no run path to OpenBLAS's folder: the system's choice of a BLAS
#   prefix=dir     install below it (default: /usr/local); bindir, libdir, includedir, datadir, mandir, docdir, DESTDIR
#   V=1            show the commands

ifeq ($(origin CC),default)
CC := gcc
endif
BUILD ?= build
# One spelling of the folder: it is among the flags, and other flags build all of it again.
override BUILD := $(patsubst $(CURDIR)/%,%,$(BUILD))
MARCH ?=
CFLAGS ?= -O3 -g
OMP ?= -fopenmp
PKG_CONFIG ?= pkg-config
ifeq ($(origin AR),default)
AR := ar
endif
DEPS ?= 1
export DEPS

# As many jobs as processors, unless make is told otherwise.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif
ifeq ($(V),1)
Q :=
else
Q := @
endif

# Flags of libraries are asked for when they are first used: pkg-config itself may yet have to be
# installed. OpenBLAS is loaded at run time, when a product is wanted (core/sweep/blas.c): its OpenMP build where
# several are installed, which -rpath finds (as RPATH, which a sanitizer's dlopen() heeds too). GSL's slow cblas
# is left out. No -ffast-math: infinities and NaN carry meaning here; no contraction to fused multiply-add:
# the same numbers from every compiler.
# HDF5 without MPI where a distribution tells the two apart.
hdf5 = $$($(PKG_CONFIG) --exists hdf5-serial && echo hdf5-serial || echo hdf5)
packages = gsl openblas $(hdf5) yaml-0.1 nettle jansson libzip zlib
openmp_blas = $(wildcard /usr/lib/$(shell $(CC) -print-multiarch 2>/dev/null)/openblas-openmp/pkgconfig)
pkg_config = PKG_CONFIG_PATH="$(openmp_blas):$$PKG_CONFIG_PATH" $(PKG_CONFIG)
pkg = $(shell $(pkg_config) $(1) $(packages))
once = $(eval $(1) := $(2))$($(1))
pkg_cflags = $(call once,pkg_cflags,$(patsubst -I%,-isystem %,$(call pkg,--cflags)))
pkg_dirs = $(call once,pkg_dirs,$(call pkg,--libs-only-L))
pkg_libs = $(call once,pkg_libs,$(call pkg,--libs-only-l))

# Fields that an initialiser leaves out are zero, on purpose, and constants of enumerations are numbers. What gcc 14
# refuses is refused by every compiler: a pointer to another struct is how a library of another version shows.
warnings := -Wall -Wextra -Wno-missing-field-initializers -Wshadow -Wconversion \
	-Wno-sign-conversion -Wno-enum-float-conversion -Wstrict-prototypes \
	-Werror=incompatible-pointer-types -Werror=int-conversion -Werror=implicit-function-declaration
# What goes into the library goes into the program as well: position-independent, and hidden but for
# what library/hardneg.h declares. Nobody reads the flags of floating-point exceptions: GCC need not keep
# them, and makes vectors of conditions for AVX2, too.
all_cflags = -std=c17 -ffp-contract=off -fno-trapping-math -fno-math-errno -fPIC -fvisibility=hidden $(OMP) $(warnings) \
	$(CFLAGS) $(addprefix -march=,$(MARCH)) $(SANITIZE)
# Compilers record the folder that they are in by this name: the same bytes from any folder.
compile = PWD=/proc/self/cwd $(CC)
cppflags = -I. -I$(BUILD)/include -D_GNU_SOURCE $(pkg_cflags) $(CPPFLAGS)
RPATH ?= 1
rpath = $(if $(filter-out 0,$(RPATH)),$(patsubst -L%,-Wl$(comma)--disable-new-dtags$(comma)-rpath$(comma)%,$(filter %blas-openmp %blas-openmp/,$(pkg_dirs))))
ldflags = $(OMP) $(SANITIZE) $(pkg_dirs) $(rpath) $(LDFLAGS)
# The high-level library is named after the other, which Debian names hdf5 or hdf5_serial.
libs = $(patsubst %,%_hl,$(filter -lhdf5%,$(pkg_libs))) $(filter-out -lgslcblas -lopenblas,$(pkg_libs)) -lsvm -lm -ldl
comma := ,

# Open MPI is an option: what calls it is one file.
MPI ?=
ifneq ($(filter-out 0,$(MPI)),)
$(BUILD)/obj/harness/host/ranks.o: private cppflags += -DHN_MPI $(patsubst -I%,-isystem %,$(shell $(PKG_CONFIG) --cflags ompi-c))
libs += $(shell $(PKG_CONFIG) --libs ompi-c)
endif

modules := $(shell sed -n 's/^\([a-z/]*\):.*/\1/p' tests/modules.txt)
sources := $(wildcard $(addsuffix /*.c,$(modules)))
obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
library := $(BUILD)/libhardneg.a
shared := $(BUILD)/libhardneg.so
version = $(shell sed -n 's/.*hn_version\[\] = "\(.*\)";/\1/p' core/context.c)
program := $(BUILD)/hardneg
test_common := $(wildcard tests/test.c tests/fixture.c tests/skeleton_sampler.c)
suites := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard $(foreach d,$(modules) plots fuzz,tests/$(d)/test_*.c)))
# The parts of training with numbers of double precision, for the tests of gradients.
in_double := $(patsubst %.c,$(BUILD)/obj64/%.o,$(wildcard training/net/*.c training/text/*.c) \
	$(addprefix training/tasks/,graph.c pairs.c pairs_rank.c text.c text_task.c))

# What is asked for by name, and runs make again once packages are there; one after the other.
entries := demo check test asan tsan coverage threads lint analyze bench paper pictures front board torture rehearsal memcheck fuzz slurm mpi deb
ifneq ($(filter $(entries),$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif
again = +$(Q)$(MAKE) --no-print-directory
.PHONY: all everything modules $(entries) baseline mutants run-demo run-check run-tests run-sanitized run-coverage run-lint run-bench run-paper run-pictures run-front gallery run-board \
	run-torture run-rehearsal run-memcheck run-threads run-analyze run-slurm run-mpi run-deb systems container format install install-library wheel sdist uninstall dist release clean help libraries FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(program) $(shared) ## build build/hardneg and build/libhardneg.so (the default)

demo: ## install what is missing, build, run a small comparison, draw its figures and report
	$(Q)./deps.sh build
	$(again) run-demo

check: ## build, run the quick unit tests: for while one works
	$(Q)./deps.sh build test
	$(again) run-check

test: ## install what is missing, build, run every test
	$(Q)./deps.sh build test
	$(again) run-tests

asan: ## unit tests under the address and undefined-behaviour sanitizers
	$(Q)./deps.sh build test
	$(again) run-sanitized BUILD=$(BUILD)/asan CFLAGS="-O1 -g -fno-omit-frame-pointer" \
		SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=undefined"

tsan: ## unit tests under the thread sanitizer
	$(Q)./deps.sh build test dev
	$(again) run-sanitized run-threads BUILD=$(BUILD)/tsan CC=clang OMP=-fopenmp=libomp CFLAGS="-O1 -g" \
		SANITIZE=-fsanitize=thread

# Threads may lose counts, of which only whether they are 0 is read; atomic ones take three times as long. Counts lie
# beside the objects in whatever folder a program runs: these are compiled under the name of this one.
coverage: ## what WHAT=check, suites or all (the default) of the tests reach, by module, with failing allocations, INJECT=3 failing calls a kind and command, and with MPI=1 ranks
	$(Q)./deps.sh build test $(if $(MPI),mpi)
	$(again) run-coverage BUILD=$(BUILD)/coverage CFLAGS="-O1 -g -fno-inline" SANITIZE="--coverage -fprofile-update=single" CPPFLAGS="-include tests/coverage.h" compile='$$(CC)'

threads: ## the smoke job on four threads under the thread sanitizer
	$(Q)./deps.sh build test dev
	$(again) run-threads BUILD=$(BUILD)/tsan CC=clang OMP=-fopenmp=libomp CFLAGS="-O1 -g" \
		SANITIZE=-fsanitize=thread

lint: ## formatting, rules of the design, static analysis
	$(Q)./deps.sh build test dev
	$(again) run-lint

analyze: ## gcc's static analyser, on the files that changed since it found nothing
	$(Q)./deps.sh build
	$(again) run-analyze

modules: ## the modules of the program: files, lines, and what each includes
	$(Q)tests/modules.py --print

memcheck: ## a small job of every sampler under valgrind
	$(Q)./deps.sh build test dev
	$(again) run-memcheck

fuzz: ## all that reads bytes of others, and calls of the library, on inputs made at random: for MINUTES=60, or a million of each
	$(Q)./deps.sh build dev
	$(Q)MINUTES=$(MINUTES) tests/fuzz/run.sh

rehearsal: ## CI as a repository's owner has it: a baseline, pull requests, shards, no history, no gnuplot
	$(Q)./deps.sh build test
	$(again) run-rehearsal

slurm: ## docs/guide/ci/slurm.sh with a Slurm cluster of this machine alone, which ends with the test
	$(Q)./deps.sh build test slurm
	$(again) run-slurm

mpi: ## a program with Open MPI, and its tests with one, two and three ranks
	$(Q)./deps.sh build test mpi
	$(again) run-mpi MPI=1 BUILD=$(BUILD)/mpi

# ROOTS: where the roots of systems stay; SYSTEMS: which of them; WHAT=test: every test.
systems: ## build and try it in bare roots of Debian 12, 13 and unstable, with clang, for arm64 and with musl's headers
	$(Q)tests/systems.sh $(SYSTEMS)

deb: ## Debian packages of the last commit, looked at by lintian, in build/deb
	$(Q)./deps.sh build test deb
	$(again) run-deb

torture: ## kill commands at KILLS (default 200) random moments; CASES (default 1000) hostile inputs
	$(Q)./deps.sh build test
	$(again) run-torture

bench: ## how fast the heavy parts are, beside the machine's limits and, where installed, peers
	$(Q)./deps.sh build
	$(again) run-bench

# QUICK=1: three encoders of 2,000 images and 60 steps, to see that it works; OUT: where it all goes.
OUT ?= results/paper$(if $(QUICK),-quick)
paper: ## from CIFAR-10's pixels (DATA=dir) to verdicts over eight encoders; QUICK=1 for three small ones
	$(Q)./deps.sh build
	$(again) run-paper

pictures: ## make all pictures of README and docs again, from DATA=dir (harness/reproduce/pictures.sh); needs chromium
	$(Q)./deps.sh build
	$(again) run-pictures gallery

front: ## fronts of all samplers on data that a Debian system has, and on DATA=dir; QUICK=1 for fewer items
	$(Q)./deps.sh build test front
	$(again) run-front

# ENTRY: entries (YAML), measured beside their files; FULL=1: board-1, of 10,000 items, in place of board-1-small.
board: ## the board of samplers on data that a Debian system has, and on DATA=dir; ENTRY=my.yaml adds an entry
	$(Q)./deps.sh build test front
	$(again) run-board

gallery: run-demo ## pictures of the guide's gallery and tutorial, from the shipped series; needs chromium
	$(Q)docs/img/gallery.py $(program) results/demo

mutants: everything ## changes SOURCES=... (files or folders) one operator or line at a time: what no test sees
	$(Q)tests/mutants.py $(SOURCES) $(if $(SAMPLE),--sample $(SAMPLE))

baseline: $(program) ## make results/baseline.h5 again, which `make test` compares the smoke job with
	$(Q)rm -rf $(BUILD)/baseline
	$(Q)$(program) run -c harness/jobs/smoke.yaml -o $(BUILD)/baseline --quiet
	$(Q)cp $(BUILD)/baseline/results.h5 results/baseline.h5

everything: $(program) $(shared) $(suites)

run-demo: $(program) $(shared)
	$(Q)$(program) run -c harness/jobs/demo.yaml -o results/demo
	$(Q)$(program) report results/demo --quiet
	@echo "Results: results/demo/results.h5"
	@echo "Figures: results/demo/figures"
	@echo "Report:  results/demo/index.html"

run-check: $(suites)
	$(Q)tests/run.sh $(BUILD) check

# The compiler and the libraries are for the examples of the guides.
run-tests: $(program) $(shared) $(suites)
	$(Q)COMPILE='$(CC) $(all_cflags) $(cppflags)' LINK='$(ldflags) -lcunit $(libs)' tests/run.sh $(BUILD) all

run-rehearsal: $(program)
	$(Q)COMPILE='$(CC) $(all_cflags) $(cppflags)' LINK='$(ldflags) $(libs)' tests/rehearsal.sh $(BUILD)

run-sanitized: $(suites)
	$(Q)tests/run.sh $(BUILD) suites

run-coverage: $(program) $(shared) $(suites)
	$(Q)find $(BUILD) -name '*.gcda' -delete
	$(Q)HN_STACKS=1 SUITE_LIMIT=5400 COMPILE='$(CC) $(all_cflags) $(cppflags)' LINK='$(ldflags) -lcunit $(libs)' tests/run.sh $(BUILD) $(or $(WHAT),all) || true
	$(Q)tests/inject.py $(program) --most $(or $(INJECT),3) --kinds reading,hdf5,libc,later || true
	$(if $(MPI),$(Q)tests/mpi.sh $(program) || true)
	$(Q)tests/coverage.py $(BUILD) >$(BUILD)/missed.txt

run-lint: $(BUILD)/include/paper.inc $(program)
	$(Q)CPPFLAGS="$(cppflags)" tests/lint.sh
	$(again) everything BUILD=$(BUILD)/lint CFLAGS="-O2 -Werror"
	$(Q)tests/circles.py $(BUILD)/lint/obj
	$(Q)tests/clones.py $(program)
	$(again) everything BUILD=$(BUILD)/lint-clang CC=clang OMP=-fopenmp=libomp CFLAGS="-O2 -Werror"

run-analyze: $(patsubst %.c,$(BUILD)/analyze/%.ok,$(sources))
	@echo "analyze: $(words $^) files, nothing new"

run-bench: $(program)
	$(Q)$(program) bench table
	@echo
	$(Q)python3=$$(PATH=/usr/bin:$$PATH command -v python3) && \
	$$python3 tests/peers/compare.py $(program) || echo "peers: no python3, or a run failed"

run-paper: $(program)
	$(Q)harness/reproduce/paper.sh $(program) "$(DATA)" "$(OUT)" $(if $(QUICK),quick)

run-pictures: $(program)
	$(Q)harness/reproduce/pictures.sh $(program) "$(DATA)" results/pictures

run-front: $(program)
	$(Q)harness/reproduce/front.sh $(program) "$(DATA)" results/front$(if $(QUICK),-quick) $(if $(QUICK),quick)

run-board: $(program)
	$(Q)harness/reproduce/board.sh $(program) "$(DATA)" results/board-1$(if $(FULL),,-small) $(if $(FULL),full,small) $(ENTRY)

# Leaks are for `make asan`: valgrind counts those of processes that look at a file and end, too. It knows
# no AVX-512.
run-memcheck: $(program)
	$(Q)dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	$(program) synth -o $$dir/s.h5 --n 60 --dim 8 --classes 4 --steps 1 --views 1 --quiet && \
	OPENBLAS_CORETYPE=Haswell valgrind -q --error-exitcode=9 --leak-check=no $(program) run -c tests/memcheck.yaml -o $$dir/out \
		--set snapshots=$$dir/s.h5 --threads 2 --quiet && echo "memcheck: no error"

# HDF5 and OpenBLAS are not built for the sanitizer: what they do among themselves is not looked at.
run-threads: $(program)
	$(Q)dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	TSAN_OPTIONS="ignore_noninstrumented_modules=1:exitcode=9" $(program) run -c harness/jobs/smoke.yaml -o $$dir/out \
		--set batches=4 --threads 4 --quiet && echo "threads: no race"

run-slurm: $(program)
	$(Q)tests/slurm.sh $(program)

run-mpi: $(program)
	$(Q)tests/mpi.sh $(program)

run-torture: $(program)
	$(Q)tests/torture.sh $(program) $(or $(KILLS),200)
	$(Q)tests/kills.sh $(program) $(or $(KILLS),200)
	$(Q)tests/hostile.py $(program) --cases $(or $(CASES),1000)

format: ## rewrite all sources as .clang-format says
	$(Q)clang-format -i $(shell git ls-files '*.[ch]')

# Folders in GNU's spelling. PREFIX is another name of prefix.
PREFIX ?= /usr/local
prefix = $(PREFIX)
bindir = $(prefix)/bin
libdir = $(prefix)/lib
includedir = $(prefix)/include
datadir = $(prefix)/share
mandir = $(datadir)/man
docdir = $(datadir)/doc/hardneg
# A path as one word of the shell, blanks or not; where it is installed; as pkg-config reads it.
quoted = '$(subst ','\'',$(1))'
to = $(call quoted,$(DESTDIR)$(1))
space := $(subst ,, )
in_pc = $(subst $(space),\$(space),$(1))
# Below docdir, and below datadir/hardneg; their names have no blanks.
documents = README.md LICENSE CHANGELOG.md CITATION.cff $(shell find docs -type f)
shipped = $(shell find harness/jobs -type f) $(wildcard datasets/*.h5 plots/paper/*)
mode = $$([ -x $$f ] && echo 755 || echo 644)

# The library alone; `install` calls it as well.
install-library: $(shared)
	$(Q)install -D -m 755 $(shared).1 $(call to,$(libdir)/libhardneg.so.1)
	$(Q)ln -sf libhardneg.so.1 $(call to,$(libdir)/libhardneg.so)
	$(Q)install -D -m 644 library/hardneg.h $(call to,$(includedir)/hardneg.h)
	$(Q)install -d $(call to,$(libdir)/pkgconfig) $(call to,$(mandir)/man3)
	$(Q)awk -v version=$(version) -f library/man.awk library/hardneg.h library/example/example.c > $(call to,$(mandir)/man3/hardneg.3)
	$(Q){ printf '%s\n' $(call quoted,prefix=$(call in_pc,$(prefix))) $(call quoted,includedir=$(call in_pc,$(includedir))) \
		$(call quoted,libdir=$(call in_pc,$(libdir))); \
		sed 's,@VERSION@,$(version),' library/hardneg.pc.in; } > $(call to,$(libdir)/pkgconfig/hardneg.pc)

wheel: $(shared) $(program) ## the Python module, the library and the program in one file, in build/wheels
	$(Q)HARDNEG_LIBRARY=$(abspath $(shared)) /usr/bin/python3 python/build_wheel.py $(BUILD)/wheels

install: all install-library ## install below prefix (default /usr/local); DESTDIR is honoured
	$(Q)install -D -m 755 $(program) $(call to,$(bindir)/hardneg)
	$(Q)install -d $(call to,$(mandir)/man1) $(call to,$(datadir)/bash-completion/completions) $(call to,$(datadir)/zsh/site-functions)
	$(Q)$(program) man | sed $(call quoted,s|harness/jobs/|$(subst -,\-,$(datadir))/hardneg/&|) > $(call to,$(mandir)/man1/hardneg.1)
	$(Q)$(program) completion bash > $(call to,$(datadir)/bash-completion/completions/hardneg)
	$(Q)$(program) completion zsh > $(call to,$(datadir)/zsh/site-functions/_hardneg)
	$(Q)for f in $(documents); do install -D -m $(mode) $$f $(call to,$(docdir))/$$f; done
	$(Q)for f in $(shipped); do install -D -m $(mode) $$f $(call to,$(datadir)/hardneg)/$$f; done
	$(Q)install -m 644 plots/page/theme.gp $(call to,$(datadir)/hardneg/plots/theme.gp)

# Files that were installed, and folders of hardneg's own that are then empty.
uninstall: ## remove what `make install` put there
	$(Q)rm -f $(call to,$(bindir)/hardneg) $(call to,$(libdir)/libhardneg.so) $(call to,$(libdir)/libhardneg.so.1) \
		$(call to,$(includedir)/hardneg.h) $(call to,$(libdir)/pkgconfig/hardneg.pc) \
		$(call to,$(mandir)/man1/hardneg.1) $(call to,$(mandir)/man3/hardneg.3) \
		$(call to,$(datadir)/bash-completion/completions/hardneg) $(call to,$(datadir)/zsh/site-functions/_hardneg)
	$(Q)for f in $(documents); do rm -f $(call to,$(docdir))/$$f; done
	$(Q)rm -f $(call to,$(datadir)/hardneg/plots/theme.gp)
	$(Q)for f in $(shipped); do rm -f $(call to,$(datadir)/hardneg)/$$f; done
	$(Q)for d in $(call to,$(docdir)) $(call to,$(datadir)/hardneg); do [ ! -d "$$d" ] || find "$$d" -depth -type d -empty -delete; done

sdist: ## the tree as a source archive that pip builds the wheel of, in build/wheels
	$(Q)mkdir -p $(BUILD)/wheels && cd python && /usr/bin/python3 -c "import build_wheel; print(build_wheel.build_sdist('$(abspath $(BUILD)/wheels)'))"

dist: ## a source archive of the last commit, hardneg-VERSION.tar.gz
	$(Q)name=hardneg-$(version) && \
	git archive --format=tar.gz --prefix=$$name/ -o $$name.tar.gz HEAD && echo $$name.tar.gz

# What a release is made of. The owner pushes the tag v$(version), of which CI publishes the same.
release: dist ## the source archive, its checksum, and notes of CHANGELOG.md
	$(Q)name=hardneg-$(version) && sha256sum $$name.tar.gz > $$name.tar.gz.sha256 && \
	awk -v version=$(version) '/^## / { on = $$2 == version; next } on' CHANGELOG.md > $$name.notes.md && \
	{ [ -s $$name.notes.md ] || { echo "CHANGELOG.md has nothing of $(version)" >&2; exit 1; }; } && cat $$name.tar.gz.sha256

# Of the last commit, by podman, buildah or docker. IMAGE: its name; BASE: the image it is built on.
IMAGE := hardneg
container: ## an image with the program, by podman, buildah or docker (docs/guide/container/Containerfile)
	$(Q)tool=$$(command -v podman || command -v buildah || command -v docker) || { echo "make container needs podman, buildah or docker" >&2; exit 1; }; \
	git archive --format=tar HEAD | $$tool build $(if $(BASE),--build-arg BASE=$(BASE)) -t $(IMAGE) -f docs/guide/container/Containerfile -

run-deb:
	$(Q)dir=$(BUILD)/deb/hardneg-$(version) && rm -rf $(BUILD)/deb && mkdir -p $$dir && git archive HEAD | tar -x -C $$dir && \
	(cd $$dir && unset BUILD MAKEFLAGS MAKELEVEL && dpkg-buildpackage -us -uc -b) && lintian --fail-on error $(BUILD)/deb/*.changes && \
	ls $(BUILD)/deb/*.deb

clean: ## remove what was built (results stay)
	$(Q)rm -rf $(addprefix $(BUILD)/,obj obj64 include tests analyze baseline asan tsan lint lint-clang fuzz wheels mpi deb) $(library) $(shared) $(shared).1 $(program)

help: ## this list
	@sed -n 's/^\([a-z]*\):.* ## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 12
	@sed -n '3,11s/^#   //p' $(firstword $(MAKEFILE_LIST))

# Building.

$(program): $(call obj,harness/cli/main.c) $(library)
	@printf '  LD  %s\n' $@
	$(Q)$(CC) $(all_cflags) -o $@ $^ $(ldflags) $(libs)

$(library): $(call obj,$(filter-out harness/cli/main.c,$(sources)))
	@printf '  AR  %s\n' $@
	$(Q)rm -f $@ && $(AR) qcs $@ $^

# Only what library/*.c needs of the archive; so no HDF5.
$(shared): $(call obj,$(wildcard library/*.c)) library/hardneg.map $(library)
	@printf '  LD  %s\n' $@
	$(Q)$(CC) $(all_cflags) -shared -Wl,-soname,libhardneg.so.1 -Wl,--version-script=library/hardneg.map \
		-Wl,-z,defs -Wl,--as-needed -o $@.1 $(filter %.o %.a,$^) $(ldflags) $(libs)
	$(Q)ln -sf libhardneg.so.1 $@

$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(call obj,$(test_common)) $(library)
	@printf '  LD  %s\n' $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -o $@ $(filter %.o,$^) $(library) $(ldflags) -lcunit $(libs)

fuzz_targets := $(filter-out %/libfuzzer.c %/edit.c %/test_fuzz.c,$(wildcard tests/fuzz/*.c))
from_memory := -Wl,--wrap=H5Fopen,--wrap=H5Fis_hdf5,--wrap=stat,--wrap=access
$(BUILD)/tests/fuzz/test_fuzz: $(call obj,$(fuzz_targets))
$(BUILD)/tests/fuzz/test_fuzz $(BUILD)/fuzzer: ldflags += $(from_memory)

$(addprefix $(BUILD)/tests/,harness/run/test_run_memory harness/cli/test_commands library/test_call_memory \
	training/test_training_memory): ldflags += -Wl,--wrap=aligned_alloc
$(addprefix $(BUILD)/tests/,harness/cli/test_commands library/test_call_memory): ldflags += -Wl,--wrap=hn_check_stop

# Calls that the suite counts or changes on their way.
decisions := hn_stream_open hn_permute hn_stream_word hn_stream_below hn_stream_uniform hn_stream_shuffle \
	hn_stream_distinct hn_stream_take hn_gemm_nt hn_packed_multiply hn_packed_multiply_all hn_packed_multiply_row hn_dot
$(BUILD)/tests/samplers/test_every_decision: ldflags += $(addprefix -Wl$(comma)--wrap=,$(decisions))
$(BUILD)/tests/samplers/test_no_product: ldflags += -Wl,--wrap=hn_product_best

$(BUILD)/fuzzer: $(call obj,tests/fuzz/libfuzzer.c tests/fuzz/edit.c $(fuzz_targets)) $(library)
	$(Q)$(CC) $(all_cflags) -o $@ $^ $(ldflags) -fsanitize=fuzzer $(libs)

gradient_suites := $(addprefix tests/training/test_,gradients loss_slopes graph_slopes text_slopes queue_slopes jsd_slopes)
# Objects come before the library: its parts of training, in float, are then left there.
$(addprefix $(BUILD)/,$(gradient_suites)): \
		$(BUILD)/tests/%: $(BUILD)/obj64/tests/%.o $(in_double) \
		$(call obj,$(test_common)) $(library)
	@printf '  LD  %s\n' $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -o $@ $^ $(ldflags) -lcunit $(libs)

$(BUILD)/obj64/%.o: %.c $(BUILD)/include/flags
	@printf '  CC  %s (double)\n' $<
	@mkdir -p $(@D)
	$(Q)$(compile) $(all_cflags) $(cppflags) -DHN_REAL_DOUBLE -MMD -MP -c -o $@ $<

$(BUILD)/obj/%.o: %.c $(BUILD)/include/flags
	@printf '  CC  %s\n' $<
	@mkdir -p $(@D)
	$(Q)$(compile) $(all_cflags) $(cppflags) -MMD -MP -c -o $@ $<

# Less optimised: the analyser then follows functions instead of what became of them.
$(BUILD)/analyze/%.ok: %.c tests/analyze.sh tests/analyze.allow | $(BUILD)/include/paper.inc $(BUILD)/include/build_info.h
	@printf '  AN  %s\n' $<
	@mkdir -p $(@D)
	$(Q)tests/analyze.sh $@ $< gcc -std=c17 $(OMP) -O1 $(cppflags) -MMD -MP -MT $@ -MF $(@:.ok=.d)

# Nothing is compiled where a library is missing: all that are, by name.
libraries:
	@missing=$$(for p in $(packages); do $(pkg_config) --exists $$p 2>/dev/null || printf ' %s' $$p; done; \
	for h in libsvm/svm.h Random123/philox.h; do \
		printf '#include <%s>\n' $$h | $(CC) $(CPPFLAGS) $(CFLAGS) -E -x c -o /dev/null - 2>/dev/null || printf ' %s' $$h; done); \
	[ -z "$$missing" ] || { echo "Missing:$$missing (of pkg-config, and headers). On Debian and Ubuntu ./deps.sh build" \
		"installs them; elsewhere packages.txt says what is needed, and PKG_CONFIG_PATH and CPPFLAGS where it is." >&2; exit 1; }

# Files that are rewritten only when what they say has changed: the flags, on which every object
# depends, and what harness/host/host.c records, on which only it depends. Two makes may write at once.
new = $@.$$$$
write_if_new = cmp -s $(new) $@ && rm $(new) || mv $(new) $@
$(BUILD)/include/flags: FORCE | libraries
	@mkdir -p $(@D)
	@printf '%s\n' '$(CC) $(all_cflags) $(cppflags) $(addprefix MPI=,$(MPI))' > $(new); $(write_if_new)

# What decides the numbers of a program and what it draws: the commit is clean where these folders are.
folders := core datasets samplers metrics library training retrieval results/*.[ch] results/analysis harness plots Makefile
identity = $(sort $(sources) $(wildcard $(addsuffix /*.h,$(modules))) $(paper) plots/page/embed.awk plots/page/theme.gp \
	plots/report/report.css plots/report/report.js plots/report/front.js Makefile)

$(BUILD)/include/build_info.h: FORCE
	@mkdir -p $(@D)
	@harness/host/build_info.sh '$(strip $(foreach flag,$(all_cflags),$(if $(findstring -prefix-map=,$(flag)),,$(flag))))' '$(folders)' $(identity) > $(new); $(write_if_new)

$(call obj,harness/host/host.c): $(BUILD)/include/build_info.h
$(call obj,plots/page/render.c): plots/page/theme.gp
$(call obj,plots/report/report.c): plots/report/report.css plots/report/report.js plots/report/front.js

# Published numbers, claims and their jobs, as C strings.
paper := $(wildcard plots/paper/*.tsv plots/paper/*.yaml harness/jobs/reproduce/*.yaml)
$(BUILD)/include/paper.inc: FORCE
	@mkdir -p $(@D)
	@awk -f plots/page/embed.awk $(paper) > $(new); $(write_if_new)
$(call obj,plots/page/paper.c): $(BUILD)/include/paper.inc

-include $(patsubst %.c,$(BUILD)/analyze/%.d,$(sources))
-include $(patsubst %.o,%.d,$(call obj,$(sources) $(wildcard tests/*.c tests/fuzz/*.c)) \
	$(patsubst $(BUILD)/%,$(BUILD)/obj/%.o,$(suites)) $(in_double) $(gradient_suites:%=$(BUILD)/obj64/%.o))
