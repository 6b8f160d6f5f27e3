# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# A Slurm cluster of this machine alone, on 127.0.0.1, with everything it keeps in one folder: sourced by
# tests/slurm.sh. Its three daemons are those of the distribution, children of the shell that starts them, and run as
# the user who does. Control groups are left out: in a container they belong to somebody else.
cluster=
cluster_pids=()

# What the tests need and is not installed; nothing if all is there.
cluster_missing() {
    local program
    for program in munged slurmctld slurmd sbatch; do
        PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || printf '%s ' "$program"
    done
}

free_port() { # NOT_THIS: a port of 127.0.0.1 on which nothing listens
    local port
    for ((port = 20000 + RANDOM % 10000; port == ${1:-0}; port++)); do :; done
    while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
    echo "$port"
}

# One node, with more processors than the machine may have, so that parts run side by side on any (Debian's daemons are
# not built for several nodes on one machine). KillWait and the like are short: a task that is told to end has some seconds.
write_configuration() { # FOLDER
    local host me control
    host=$(hostname -s)
    me=$(id -un)
    control=$(free_port)
    cat >"$1/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$control
SlurmdPort=$(free_port "$control")
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/munge
AuthInfo=socket=$1/munge.socket
CredType=cred/munge
StateSaveLocation=$1/state
SlurmdSpoolDir=$1/spool
SlurmctldPidFile=$1/slurmctld.pid
SlurmdPidFile=$1/slurmd.pid
SlurmctldLogFile=$1/slurmctld.log
SlurmdLogFile=$1/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=2,bf_interval=2
ReturnToService=2
KillWait=5
MinJobAge=3600
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 RealMemory=4096
PartitionName=all Nodes=$host Default=YES MaxTime=60 DefaultTime=10
CONF
}

node_is_idle() { [ "$(sinfo -h -o %t 2>/dev/null)" = idle ]; }

cluster_start() { # FOLDER: with an absolute path
    cluster=$1
    PATH=$PATH:/usr/sbin
    mkdir -p "$cluster/state" "$cluster/spool"
    chmod 755 "$cluster"
    write_configuration "$cluster"
    export SLURM_CONF="$cluster/slurm.conf"
    (umask 077 && head -c 1024 /dev/urandom >"$cluster/munge.key")
    munged --foreground --force --key-file="$cluster/munge.key" --socket="$cluster/munge.socket" \
        --pid-file="$cluster/munged.pid" --seed-file="$cluster/munge.seed" --log-file="$cluster/munged.log" \
        >"$cluster/munged.out" 2>&1 &
    cluster_pids+=($!)
    wait_for 10 test -S "$cluster/munge.socket" || return 1
    slurmctld -D >"$cluster/slurmctld.out" 2>&1 &
    cluster_pids+=($!)
    slurmd -D >"$cluster/slurmd.out" 2>&1 &
    cluster_pids+=($!)
    wait_for 30 node_is_idle
}

nothing_runs() { [ -z "$(timeout 5 squeue -h -t RUNNING,COMPLETING 2>/dev/null)" ]; }

# Jobs first: their processes are not children of the daemons' shell. Then the daemons, the last one started first.
cluster_stop() {
    local i
    [ -n "$cluster" ] || return 0
    timeout 10 scancel --user="$(id -un)" 2>/dev/null
    wait_for 15 nothing_runs
    for ((i = ${#cluster_pids[@]} - 1; i >= 0; i--)); do
        kill "${cluster_pids[i]}" 2>/dev/null
        wait_for 10 ended_process "${cluster_pids[i]}" || kill -KILL "${cluster_pids[i]}" 2>/dev/null
        wait "${cluster_pids[i]}" 2>/dev/null
    done
    cluster=
}
