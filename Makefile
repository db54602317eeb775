# farpath: every target is a thin call of the command line, .venv/bin/farpath,
# or of a script under images/. `make help` lists targets and variables.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.ONESHELL:

RUN_VARIABLES := PATH_NAME RTT RATE BUFFER UP_RATE UP_BUFFER QUEUE LOSS DROP CORRUPT JITTER REORDER DUPLICATE BACKGROUND MTU WINDOW SYSCTL ECN MPTCP ACKS TOPOLOGY FLOWS LINK SENDERS REVERSE IP STACK PARALLEL SCHEDULE ERA SOURCE SINK OFFLOADS SENDER_IMAGE REGION TIME BYTES SAMPLE SEED DRAW TRACE CAPTURE LAB CLOCK OUT
OTHER_VARIABLES := EXPERIMENT SET QEMU CORES STACKS ONLY BASE HEAD SIDE LAB_RUNTIME KERNEL_SRC KERNEL_VERSION KDIR BASE_IMAGE FORCE JSON NOTEBOOK_PORT JUPYTER_TOKEN
ALLOWED := $(RUN_VARIABLES) $(OTHER_VARIABLES)

# A mistyped variable must not run the default in silence.
quote = '$(subst ','\'',$(1))'
nearest = $(shell python3 -c 'import difflib, sys; \
	print(*difflib.get_close_matches(sys.argv[1].upper(), sys.argv[2:], 1, 0.6))' \
	$(call quote,$(1)) $(ALLOWED) 2>/dev/null)
# Words of other tools, and the variables that mean the same
MEANT := BW=RATE BANDWIDTH=RATE BITRATE=RATE LINK=RATE DELAY=RTT LATENCY=RTT CC=STACK CONGESTION=STACK TCP=STACK \
	ALGORITHM=STACK DURATION=TIME LENGTH=TIME LIMIT=BUFFER STREAMS=PARALLEL NUM=BYTES SIZE=BYTES \
	LOAD=BACKGROUND PATH=PATH_NAME
refuse = $(error $(1) is not a variable of this Makefile; $(if $(2),did you mean $(2)? )'make help' has all)
given := $(foreach v,$(.VARIABLES),$(if $(findstring command line,$(origin $(v))),$(v)))
unknown := $(firstword $(filter-out $(ALLOWED) MAKEFLAGS MAKEOVERRIDES -*-command-variables-*-,$(given)))
$(if $(unknown),$(call refuse,$(unknown),$(or $(patsubst $(unknown)=%,%,$(filter $(unknown)=%,$(MEANT))),$(call nearest,$(unknown)))))

# Values are text: what looks like a call of make's, as $(shell ...), is taken as it was typed. (What
# V:=... and V!=... hold, make has run already when it reads this file.)
run_by_make = $(error $(1):=... and $(1)::=... let make run what they hold: give $(1)=... instead)
$(if $(filter 0,$(MAKELEVEL)),$(foreach v,$(given),$(if $(filter simple,$(flavor $(v))),$(call run_by_make,$(v)))))
$(foreach v,$(ALLOWED),$(if $(filter undefined,$(origin $(v))),,$(eval override $(v) := $$(value $(v)))))
# They reach the shell through the environment, never as text of a recipe.
export $(ALLOWED)
# farpath then takes the options of a run from these variables, and its errors name them
experiment draw shell campaign paper regress reference bench: export FARPATH_CALLER := make
# What images/container hands on
experiment: export FARPATH_VARIABLES := $(RUN_VARIABLES)
chosen = $(if $(filter-out 0 no false,$($(1))),$(2))

# Two kernels at once: the run builds them, and the lab's own stays
sides = $(if $(filter sender=% receiver=%,$(KERNEL_SRC)),"--kernel=$$KERNEL_SRC")

VENV := .venv/farpath-installed
DEV := .venv/farpath-dev-installed
PAPER := .venv/farpath-paper-installed
RELEASE := .venv/farpath-release-installed
NOTEBOOK := .venv/farpath-notebook-installed
# What the scripts of images/ keep in the cache
CACHE_PARTS := again build congestion container debug downloads engine guest-code kernel kernel-debug lab lab-archive modules own python qemu qemu-modules qemu-root quic sender source udtperf unpacker wheel
SHELL_SCRIPTS = $(shell grep -rlIE --exclude-dir=.git --exclude='*.py' '^\#!.*\b(ba|da)?sh\b' images .ci) images/lib/common.sh images/lib/debian.sh
# Kernel modules have columns of tabs, as net/ipv4 has, for which clang-format knows no option;
# two programs have lines that it would break elsewhere
NOT_FORMATTED := images/kernel/stacks/% images/kernel/devices/% images/kernel/compat/% images/kernel/tracepoints/% images/kernel/run_start.h examples/own-module/% examples/own-image/steady.c \
	images/packetdrill/times.c
C_SOURCES = $(filter-out $(NOT_FORMATTED),$(shell find images examples farpath -name '*.[ch]' \
	-o -name '*.cc' -o -name '*.[ch]pp'))

.PHONY: help setup host-packages venv venv-paper dev lock kernel stacks modules modules-built quic images rootfs-lab rootfs-sender \
	rootfs-unpacker python python-notebook wheel release \
	base-image containers notebook experiment draw shell paper campaign regress reference test test-nightly test-host-lab \
	check static of-tests packages-of-test coverage bench clean clean-cache

help:
	@cat <<'END'
	make experiment   run flows over a path, print the table rows, make the figure
	make draw         draw hosts, switches and links of that run, OUT=topology.png
	make shell        Mininet's command line in the lab, on this terminal: RTT=164ms RATE=100Mbit
	make paper        all runs of the paper, then tables, figures, claims and page
	make campaign     the runs of EXPERIMENT=companion, ablation or cpu-streams; SET=quick for a short form
	make regress      say whether stacks behave as they did: any kernel against any other
	make reference    put the records that make paper has made into the project
	make test         all checks and tests of a change
	make test-nightly  what make test leaves out: minutes long, and rarely changed by a change
	make test-host-lab  all tests of the host lab, on Debian's kernel in QEMU
	make check        lint, types and unit tests: no kernel is started
	make coverage     how much of each room of farpath the unit tests run, in per cent
	make lock         the newest Python packages that pyproject.toml allows, into images/python
	make bench        measure the figures of the design
	make setup        what the targets above need: packages, .venv, kernel, root file systems
	make venv-paper   Snakemake in .venv, for 'farpath campaign' on a cluster
	make kernel       the lab's kernel alone
	make stacks       the kernel and farpath's own stacks and devices, as its modules
	make modules      the same stacks for a kernel of yours: KDIR=<its build tree>
	make quic         the programs of QUIC stacks, which else the first run with one makes
	make images       the root file systems alone
	make wheel        dist/*.whl, from which pip installs farpath with its lab built
	make release      the wheels, tried in a new environment, with SHA256SUMS and a list of all in them
	make containers   the container images: sender, kernel, lab, notebook
	make base-image   what they are built on, where no registry can be reached
	make notebook     JupyterLab with lessons and notebooks, in a container or without, on 127.0.0.1:8888
	make clean        remove what was made in this clone (not results/), and containers
	make clean-cache  remove what was built for all clones

	Variables of make experiment, all optional; a unit may follow a number:
	  PATH_NAME=cern   a path of topologies/paths     RTT=164ms      base round-trip time
	  RATE=450Mbit     bottleneck rate                BUFFER=10MB    bottleneck buffer
	  QUEUE=fq_codel:target=5ms   what the buffer is  ECN=on         or off, accecn, passive: of end hosts
	  RATE=100Mbit,30s:20Mbit,60s:100Mbit   changing, as RTT=50ms,15s:80ms,repeat:30s may
	  RATE=trace:./lte.down   a trace of mahimahi's
	  UP_RATE=1Mbit    rate towards the senders       UP_BUFFER=64kB  its buffer
	  LOSS=2e-6        random loss                    DROP=every:1000  packets to lose
	  JITTER=1ms       delay off by up to that        REORDER=0.1%   packets that overtake
	  DUPLICATE=0.1%   packets that come twice        MTU=1500       packet size
	  CORRUPT=1%       datagrams that come damaged
	  BACKGROUND=25%   or cbr:200Mbit, tcp:10%        WINDOW=16MiB   largest offered by receivers
	  MPTCP=h1=fullmesh,h2=signal   what STACK=mptcp does with further links of hosts
	  ACKS=delayed     or each packet's at once       SYSCTL=net.ipv4.tcp_sack=0   of end hosts
	  TOPOLOGY=dumbbell   or parking-lot:3, routed    IP=4           or 6
	  TOPOLOGY=./mine.py  a Mininet topology of yours, with FLOWS='h1>h2:cubic h3>h2:bbr'
	  LINK=s1-s2:rate=10Mbit,delay=5ms   what a link of it does, or *:... all that have none
	  SENDERS="rtt=172ms mtu=1500"   further senders  REVERSE=reno   flows in the other direction
	  STACK=htcp       what the flows run             ERA=2004       stacks and hosts of that time
	  SOURCE=disk:445MB/s,readahead=2MB  the senders' disk, which limits them
	  SINK=disk:200MB/s,writeback=64MB   the receivers' disk
	  REGION=120s      length of a region             SEED=1         all random choices
	  DRAW=3           a seed that also moves starts and hosts' sending
	  TIME=30s         all flows at once, that long   SAMPLE=100ms   between two samples; of the queue to 10ms
	  PARALLEL=16      flows of one stack at once, as iperf3 -P
	  BYTES=100MB      what each flow sends, as iperf3 -n, within TIME or REGION
	  SCHEDULE=seven-regions   or together, joining: one flow of each stack in STACK=htcp+4xreno
	  SENDER_IMAGE=./mine.tar   an image of yours for sender and receiver, or for one: receiver=./mine.tar
	  TRACE=10ms       how often to note the state of each TCP connection
	  CAPTURE=sender,bottleneck:128
	                   whose packets to keep, for Wireshark, and how many bytes of each
	  LAB=virtual      or host: this machine's kernel  CLOCK=virtual  or cpu, wall
	  OFFLOADS=on      or off, tso,checksum: what end hosts of LAB=host leave to their cards
	  OUT=results      where records go               FORCE=1        run again, even if recorded
	  JSON=1           results as JSON                LAB_RUNTIME=docker, or process
	of make paper and campaign: CORES=2, runs at once; OUT=results/seven-regions, records
	of make campaign: EXPERIMENT=companion, around the paper: losses, recoveries, biases, sharing; or
	                  ablation, of 2004's hosts (REGION=30s for all runs, ONLY=base,queue); SET=quick, or
	                  cpu, for table 1; QEMU=1: runs that count CPU in QEMU, as EXPERIMENT=cpu-streams
	of make regress: STACKS=htcp,cubic  ONLY=one-loss  CORES=2  BASE=linux-source-7.2  HEAD=<Linux tree>
	                 SIDE=sender or receiver, if HEAD is to run there only
	                 WHY=1, the first packet that differs in each changed run
	of make notebook: NOTEBOOK_PORT=8888  JUPYTER_TOKEN=<one of yours>
	and of what builds the kernel:
	  KERNEL_VERSION=7.2    series of Debian's source KERNEL_SRC=<dir>  your own Linux tree;
	                        KERNEL_SRC=receiver=7.3  another kernel for one side of a run
	END

# This Makefile again, among other commands. make -n, -q and -t run a whole recipe that
# names MAKE itself, with all that stands beside it.
again = $(MAKE)

# When a part of make test has ended, since it began
BEGAN := $(shell date +%s)
ended = mkdir -p build; seconds=$$(($$(date +%s) - $(BEGAN))); \
	printf '%3d min %2d s  %s\n' $$((seconds / 60)) $$((seconds % 60)) $(1) >build/ended-$(1)

# Kernel, root file systems and .venv know nothing of each other: the download
# of one fills the time in which another computes.
setup: host-packages
	@FARPATH_PROGRESS=lines $(again) -j4 venv stacks rootfs-lab rootfs-sender
	$(call ended,setup)

host-packages:
	@images/host-packages

# What runs need; tests and lint need more
venv: $(VENV)
	@:

dev: $(DEV)
	@:

# Packages by the locks of images/python, farpath itself from this clone
installed = images/python/install .venv .venv/bin/python $(1) || \
	{ echo "venv: the packages were not installed, as said above; check the network, then try again" >&2; exit 3; }

$(VENV): $(wildcard images/python/*)
	@for python in python3.13 python3.12 python3.11 python3; do
		if "$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
			echo "venv: installing the Python packages for $$("$$python" --version)" >&2
			"$$python" -m venv .venv
			$(call installed,base statistics)
			images/python/add-farpath "$$PWD/.venv" "$$PWD"
			touch $@
			exit 0
		fi
	done
	echo "venv: no Python 3.11 or later with venv here, found $$(python3 --version 2>&1 || true); install python3.11 and python3-venv" >&2
	exit 3

# Linters and what tests need
$(DEV): $(VENV)
	@echo "venv: installing what tests need" >&2
	$(call installed,dev)
	touch $@

# The newest of all packages that pyproject.toml allows, for review
lock: $(DEV)
	@.venv/bin/python images/python/lock.py

# build/ holds links to what is built in the cache, for the command line to find.
linked = mkdir -p build; place=$$($(1)); ln -sfn "$$place" build/$(2)

kernel:
	@$(call linked,images/kernel/build,kernel)

stacks: kernel
	@$(call linked,images/kernel/modules build/kernel images/kernel/stacks images/kernel/devices,stacks)

# For another kernel than the lab's: nothing of the lab is built or needed. The host
# lab looks for them by the kernel's release.
modules: modules-built
	@release=$$(grep -aom1 'vermagic=[^ ]*' images/kernel/stacks/tcp_htcp_2004.ko | cut -d = -f 2)
	mkdir -p "build/host-stacks/$$release"
	cp images/kernel/stacks/{tcp_*.ko,tcp_*.c,*.h} "build/host-stacks/$$release/"
	rm -f "build/host-stacks/$$release"/*.mod.c

modules-built:
	@if [ -n "$${KDIR:-}" ] && { [ ! -d "$$KDIR" ] || [[ $$KDIR = *[^[:alnum:]/._+:@~-]* ]]; }; then
		echo "KDIR is '$$KDIR': give a kernel's build tree, in a directory whose name has no blanks or" \
			"other letters of a shell's, as in KDIR=/lib/modules/6.12/build" >&2
		exit 2
	fi
	$(MAKE) -C images/kernel/stacks modules

# Programs of QUIC, which else the first run with one of them makes
quic: host-packages
	@images/quic/build ngtcp2 >/dev/null
	images/quic/build quinn >/dev/null

images: rootfs-lab rootfs-sender

rootfs-lab:
	@$(call linked,images/rootfs lab,lab)

rootfs-sender:
	@$(call linked,images/rootfs sender,sender)

# Of container images: what unpacks users' images there, and farpath's Python
rootfs-unpacker:
	@$(call linked,images/rootfs unpacker,unpacker)

python: rootfs-lab
	@$(call linked,images/lab/python,python)

python-notebook: rootfs-lab
	@$(call linked,images/lab/python notebook,python-notebook)

# What pip installs on machines without any of this: farpath, and its lab
wheel: setup
	@images/wheel/make

# The files of a release: the wheels, a list of all that they hold, and the SHA-256 of each
release: setup $(RELEASE)
	@images/wheel/release

$(RELEASE): $(VENV)
	@echo "release: installing what lists the wheels' contents" >&2
	$(call installed,release)
	touch $@

# In a container where a Docker engine answers, else as a process (images/container)
experiment:
	@runtime=$$(images/container runtime)
	if [ "$$runtime" = docker ]; then
		farpath=(images/container run)
	else
		$(again) setup $(if $(sides),KERNEL_SRC=)
		farpath=(.venv/bin/farpath)
	fi
	"$${farpath[@]}" run $(sides) $${OUT:+"--out=$$OUT"} \
		$(call chosen,FORCE,--force) $(call chosen,JSON,--json)

# A picture of what make experiment would run, without a lab
draw: $(VENV)
	@.venv/bin/farpath draw $${OUT:+"--out=$$OUT"}

# Mininet's command line, on the terminal that make has
shell: setup
	@.venv/bin/farpath shell $${OUT:+"--out=$$OUT"}

# Snakemake, which campaigns on clusters need
$(PAPER): $(VENV)
	@echo "paper: installing Snakemake" >&2
	$(call installed,paper)
	touch $@

venv-paper: $(PAPER)
	@:

paper: setup
	@.venv/bin/farpath campaign $${CORES:+"--cores=$$CORES"} $${OUT:+"--out=$$OUT"}

# With QEMU=1 one run after another, in a machine whose clock counts instructions
campaign: setup
	@$(if $(QEMU),images/host-packages qemu)
	.venv/bin/farpath campaign $${EXPERIMENT:+"--experiment=$$EXPERIMENT"} $${SET:+"--set=$$SET"} \
		$${REGION:+"--region=$$REGION"} $${ONLY:+"--only=$$ONLY"} $${CORES:+"--cores=$$CORES"} \
		$(call chosen,QEMU,--qemu) $${OUT:+"--out=$$OUT"}

# Targets of before, and what each is now
now_paper-quick := SET=quick
now_companion := EXPERIMENT=companion
now_companion-quick := EXPERIMENT=companion SET=quick
now_ablation := EXPERIMENT=ablation
now_ablation-quick := EXPERIMENT=ablation SET=quick
now_cpu-figures := SET=cpu QEMU=1
now_cpu-streams := EXPERIMENT=cpu-streams QEMU=1
now_cpu-streams-quick := EXPERIMENT=cpu-streams SET=quick QEMU=1
FORMER := $(patsubst now_%,%,$(filter now_%,$(.VARIABLES)))
.PHONY: $(FORMER)
$(FORMER):
	@echo "make $@ is now: make campaign $(now_$@)" >&2
	exit 2

regress: setup
	@.venv/bin/farpath regress $${STACKS:+"--stacks=$$STACKS"} $${ONLY:+"--only=$$ONLY"} \
		$${BASE:+"--base=$$BASE"} $${HEAD:+"--head=$$HEAD"} $${SIDE:+"--side=$$SIDE"} $${CORES:+"--cores=$$CORES"} \
		$${OUT:+"--out=$$OUT"} $(call chosen,WHY,--why) $(call chosen,JSON,--json)

reference: setup
	@.venv/bin/farpath reference $${OUT:+"--out=$$OUT"}

# Tests of one file share what they have made, and stay in one process; the longest begin first. A
# process more than cores works while guests and browsers wait for each other.
ON_EVERY_CORE := --numprocesses=$(shell expr $$(nproc) + 1) --maxprocesses=4 --dist=loadfile --no-loadscope-reorder --durations=20
# Tests that start no kernel
OF_CHECK := tests/unit tests/repository tests/native

static: $(DEV)
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy farpath topologies benchmarks experiments images tests
	PYTHONPATH=. .venv/bin/lint-imports --no-cache
	.venv/bin/shellcheck -x $(SHELL_SCRIPTS)
	.venv/bin/clang-format --dry-run --Werror $(C_SOURCES)

check: static
	.venv/bin/pytest -q $(ON_EVERY_CORE) $(OF_CHECK)

# Lines and branches, in per cent; a report and no condition
coverage: $(DEV)
	.venv/bin/pytest -q $(ON_EVERY_CORE) --cov --cov-report= tests/unit
	for room in farpath/*/ topologies/ benchmarks/ farpath/; do
		[[ $$room = */__pycache__/ ]] ||
			printf '%-20s %3s %%\n' "$$room" "$$(.venv/bin/coverage report --format=total --include="$$room*")"
	done

# cron looks for programs in two places only
test test-nightly test-host-lab: export PATH := $(PATH):/usr/local/bin:/usr/local/sbin:/usr/sbin:/sbin

# All Python packages of tests by one call of the installer, then what is checked without a lab
of-tests: $(VENV)
	@if [ $(VENV) -nt $(DEV) ] || [ $(VENV) -nt $(PAPER) ] || [ $(VENV) -nt $(NOTEBOOK) ]; then
		echo "venv: installing what tests need" >&2
		$(call installed,dev paper notebook)
		touch $(DEV) $(PAPER) $(NOTEBOOK)
	fi
	$(again) static

# While one package is downloaded, another is installed, the kernel compiled and the code checked. Where
# a Docker engine answers, its images too: their tests build them, or say if none does
test: host-packages
	@FARPATH_PROGRESS=lines $(again) -j6 venv stacks rootfs-lab rootfs-sender of-tests packages-of-test
	$(call ended,built-and-checked)
	status=0
	.venv/bin/pytest $(ON_EVERY_CORE) -m "not nightly" tests || status=$$?
	$(call ended,test)
	echo "make test: after how long each part had ended"
	cat build/ended-{built-and-checked,test}
	exit $$status

packages-of-test:
	@images/host-packages browser tshark presets debug interop

test-nightly: setup $(DEV) $(PAPER) $(NOTEBOOK)
	@images/host-packages browser slurm qemu tshark presets debug interop
	.venv/bin/pytest $(ON_EVERY_CORE) -m nightly tests

base-image:
	@images/container base

containers:
	@images/container build sender kernel lab notebook

# In a container where a Docker engine answers, else as a process
notebook:
	@runtime=$$(images/container runtime)
	if [ "$$runtime" = docker ]; then
		images/notebook/here check container
		images/container notebook
	else
		images/notebook/here check
		$(again) setup $(NOTEBOOK)
		images/notebook/here
	fi

# JupyterLab, which only notebooks need
$(NOTEBOOK): $(VENV)
	@echo "notebook: installing JupyterLab" >&2
	$(call installed,notebook)
	touch $@

test-host-lab: setup $(DEV)
	@images/host-packages qemu
	.venv/bin/pytest $(ON_EVERY_CORE) tests/hostlab

bench: setup
	@.venv/bin/farpath bench

clean:
	@images/container clean
	rm -rf .venv .coverage build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

clean-cache:
	@cache=$$(realpath -m "$${FARPATH_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/farpath}")
	home=$$(realpath -m "$$HOME")
	if [ "$$cache" = / ] || [[ $$home/ = "$$cache"/* ]]; then
		echo "clean-cache: $$cache holds your home directory: give FARPATH_CACHE a directory of its own" >&2
		exit 2
	fi
	echo "removing $$cache" >&2
	for part in $(CACHE_PARTS); do rm -rf "$${cache:?}/$$part"; done
	[ ! -d "$$cache" ] || rmdir "$$cache" 2>/dev/null ||
		echo "clean-cache: what else is in $$cache is not farpath's and stays: $$(ls -A "$$cache" | head -5 | paste -sd ' ')" >&2
