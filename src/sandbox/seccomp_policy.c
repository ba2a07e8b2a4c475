/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/seccomp_policy.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#define ALLOW SECCOMP_POLICY_ALLOW

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/* clang-format off */
const struct seccomp_group seccomp_groups[] = {
  { ALLOW, "descriptors that are open already",
    "read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek close close_range dup dup2 dup3 "
    "fcntl flock fsync fdatasync sync_file_range ftruncate truncate fallocate fadvise64 readahead sendfile "
    "copy_file_range splice tee vmsplice" },
  { ALLOW, "waiting for descriptors and for time",
    "poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 pipe pipe2 "
    "eventfd eventfd2 signalfd signalfd4 timerfd_create timerfd_settime timerfd_gettime nanosleep clock_nanosleep "
    "pause" },
  { ALLOW, "files, by name: the mount tree and landlock say which",
    "open openat openat2 creat stat lstat fstat newfstatat statx access faccessat faccessat2 readlink readlinkat "
    "getcwd chdir fchdir mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat "
    "chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes utimensat futimesat umask getdents "
    "getdents64 statfs fstatfs mknod mknodat" },
  { ALLOW, "attributes of files: shutil copies them",
    "getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr setxattr lsetxattr fsetxattr removexattr "
    "lremovexattr fremovexattr" },
  { ALLOW, "memory",
    "mmap munmap mremap mprotect brk madvise mincore msync mlock mlock2 munlock mlockall munlockall membarrier "
    "get_mempolicy set_mempolicy mbind" },
  { ALLOW, "processes and threads: pids.max and RLIMIT_NPROC count them",
    "fork vfork execve execveat exit exit_group wait4 waitid getpid getppid gettid getpgid setpgid getpgrp getsid "
    "setsid set_tid_address set_robust_list get_robust_list rseq futex futex_waitv sched_yield sched_getaffinity "
    "sched_setaffinity sched_getparam sched_getscheduler sched_get_priority_max sched_get_priority_min "
    "sched_rr_get_interval sched_getattr getpriority setpriority getcpu arch_prctl getrusage times prlimit64 "
    "getrlimit setrlimit capget" },
  { ALLOW, "signals: nothing outside of the pid namespace can be named",
    "kill tkill tgkill rt_sigaction rt_sigprocmask rt_sigpending rt_sigqueueinfo rt_tgsigqueueinfo rt_sigreturn "
    "rt_sigsuspend rt_sigtimedwait sigaltstack restart_syscall alarm getitimer setitimer timer_create timer_settime "
    "timer_gettime timer_getoverrun timer_delete" },
  { ALLOW, "who and where am I",
    "getuid geteuid getgid getegid getresuid getresgid getgroups uname sysinfo getrandom clock_gettime clock_getres "
    "gettimeofday time" },
  { ALLOW, "sockets, once one is there: the table below says which can be made",
    "listen accept accept4 getsockname getpeername getsockopt setsockopt shutdown sendto recvfrom sendmsg recvmsg "
    "sendmmsg recvmmsg" },
  { ALLOW, "System V objects: the sandbox has an ipc namespace of its own; the table below says which can be made",
    "shmat shmctl shmdt semget semop semctl semtimedop msgsnd msgrcv msgctl" },

  { SECCOMP_POLICY_PRETEND, "would make the whole host wait for its disks; nothing here outlives the run",
    "sync syncfs" },

  { EPERM, "other processes' memory and descriptors",
    "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_getfd" },
  { EPERM, "namespaces and mounts",
    "unshare setns mount umount2 pivot_root chroot open_tree move_mount fsopen fsconfig fsmount fspick "
    "mount_setattr" },
  { EPERM, "ways around the file tree",
    "open_by_handle_at name_to_handle_at quotactl quotactl_fd fanotify_init fanotify_mark swapon swapoff acct "
    "lookup_dcookie" },
  { EPERM, "helpers of kernel exploits",
    "bpf perf_event_open userfaultfd modify_ldt seccomp" },
  { EPERM, "the host itself",
    "reboot kexec_load kexec_file_load init_module finit_module delete_module iopl ioperm syslog vhangup sethostname "
    "setdomainname settimeofday clock_settime adjtimex clock_adjtime nfsservctl" },
  { EPERM, "ids and rights, of which there are none",
    "setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups capset" },
  { EPERM, "places in the queue before others",
    "sched_setscheduler sched_setparam sched_setattr ioprio_set" },

  /* The rest is what ENOSYS is for; named for the reader, since it holds for what is not named as well. */
  { ENOSYS, "its flags lie behind a pointer, where no filter can look: the C library falls back to clone",
    "clone3" },
  { ENOSYS, "opens files and sockets past every filter",
    "io_uring_setup io_uring_enter io_uring_register" },
  { ENOSYS, "keyrings are not namespaced",
    "add_key request_key keyctl" },
  { ENOSYS, "asyncio and subprocess fall back from pidfds",
    "pidfd_open pidfd_send_signal" },
  { ENOSYS, "the count of inotify instances is shared with other sandboxes: watchers fall back to polling",
    "inotify_init inotify_init1 inotify_add_watch inotify_rm_watch" },
  { ENOSYS, "queues in kernel memory that no limit of ours counts",
    "mq_open io_setup io_submit memfd_secret" },
};
const size_t seccomp_groups_count = sizeof seccomp_groups / sizeof seccomp_groups[0];

/* The kernel looks at 32 bits of an int argument; what a program puts into the other 32 must not matter. */
#define INT_MASK 0xffffffffu

#define NEW_NAMESPACE(flag) { "clone", 0, COMPARE_MASKED, (flag), (flag), EPERM, WHEN_ALWAYS }
#define IOCTL(command)      { "ioctl", 1, COMPARE_MASKED, INT_MASK, (uint32_t) (command), ALLOW, WHEN_ALWAYS }
#define PRCTL(option)       { "prctl", 0, COMPARE_MASKED, INT_MASK, (option), ALLOW, WHEN_ALWAYS }

/* The flags of clone are its first argument on both architectures. */
#define ANY_NAMESPACE                                                                                              \
  ((uint64_t) CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID           \
   | CLONE_NEWNET)

/* The part of a socket's type argument that is not a flag. */
#define SOCKET_TYPE 0xfu

const struct seccomp_condition seccomp_conditions[] = {
  { "clone", 0, COMPARE_MASKED, ANY_NAMESPACE, 0, ALLOW, WHEN_ALWAYS },
  NEW_NAMESPACE (CLONE_NEWNS),
  NEW_NAMESPACE (CLONE_NEWCGROUP),
  NEW_NAMESPACE (CLONE_NEWUTS),
  NEW_NAMESPACE (CLONE_NEWIPC),
  NEW_NAMESPACE (CLONE_NEWUSER),
  NEW_NAMESPACE (CLONE_NEWPID),
  NEW_NAMESPACE (CLONE_NEWNET),

  /* Terminals are looked at and set, but not typed into: TIOCSTI and TIOCLINUX are not here, nor TIOCSETD. */
  IOCTL (TCGETS),
  IOCTL (TCSETS),
  IOCTL (TCSETSW),
  IOCTL (TCSETSF),
  IOCTL (TIOCGWINSZ),
  IOCTL (TIOCGPGRP),
  IOCTL (TIOCOUTQ),
  IOCTL (FIONREAD),
  IOCTL (FIONBIO),
  IOCTL (FIOASYNC),
  IOCTL (FIOCLEX),
  IOCTL (FIONCLEX),
  /* cp and lsattr try these and take no for an answer, if the answer is the file system's. */
  IOCTL (FICLONE),
  IOCTL (FS_IOC_GETFLAGS),

  /* The network namespace has no way out, but the sandboxes of a zygote share it, and with it the names of abstract
   * sockets. Landlock keeps those apart from its sixth version on; before, no socket is made that could be bound to a name
   * or connected to one. A datagram socket can be connected anew however it came about, so pairs of those are refused
   * as well. */
  { "socket", 0, COMPARE_MASKED, INT_MASK, AF_UNIX, ALLOW, WHEN_SCOPED },
  { "socket", 0, COMPARE_NOT, 0, AF_UNIX, EAFNOSUPPORT, WHEN_SCOPED },
  { "socketpair", 0, COMPARE_NONE, 0, 0, ALLOW, WHEN_SCOPED },
  { "bind", 0, COMPARE_NONE, 0, 0, ALLOW, WHEN_SCOPED },
  { "connect", 0, COMPARE_NONE, 0, 0, ALLOW, WHEN_SCOPED },
  { "socket", 0, COMPARE_NONE, 0, 0, EAFNOSUPPORT, WHEN_UNSCOPED },
  { "socketpair", 1, COMPARE_MASKED, SOCKET_TYPE, SOCK_STREAM, ALLOW, WHEN_UNSCOPED },
  { "socketpair", 1, COMPARE_MASKED, SOCKET_TYPE, SOCK_SEQPACKET, ALLOW, WHEN_UNSCOPED },
  { "socketpair", 1, COMPARE_MASKED, SOCKET_TYPE, SOCK_DGRAM, EAFNOSUPPORT, WHEN_UNSCOPED },
  { "bind", 0, COMPARE_NONE, 0, 0, EPERM, WHEN_UNSCOPED },
  { "connect", 0, COMPARE_NONE, 0, 0, EPERM, WHEN_UNSCOPED },

  /* Memory that no process has mapped: a watchdog that adds up processes cannot see it, a control group does. */
  { "memfd_create", 0, COMPARE_NONE, 0, 0, ALLOW, WHEN_COUNTED },
  { "shmget", 0, COMPARE_NONE, 0, 0, ALLOW, WHEN_COUNTED },
  { "msgget", 0, COMPARE_NONE, 0, 0, ALLOW, WHEN_COUNTED },

  /* Asking for the personality, and the one that everybody has. */
  { "personality", 0, COMPARE_MASKED, INT_MASK, INT_MASK, ALLOW, WHEN_ALWAYS },
  { "personality", 0, COMPARE_MASKED, INT_MASK, PER_LINUX, ALLOW, WHEN_ALWAYS },

  PRCTL (PR_SET_NAME),
  PRCTL (PR_GET_NAME),
  PRCTL (PR_SET_PDEATHSIG),
  PRCTL (PR_GET_PDEATHSIG),
  PRCTL (PR_GET_DUMPABLE),
  PRCTL (PR_GET_SECCOMP),
  PRCTL (PR_SET_NO_NEW_PRIVS),
  PRCTL (PR_GET_NO_NEW_PRIVS),
  PRCTL (PR_CAPBSET_READ),
  PRCTL (PR_GET_SECUREBITS),
  PRCTL (PR_SET_TIMERSLACK),
  PRCTL (PR_GET_TIMERSLACK),
  PRCTL (PR_SET_THP_DISABLE),
  PRCTL (PR_GET_THP_DISABLE),
  PRCTL (PR_SET_VMA), /* names for memory, used by allocators */
};
const size_t seccomp_conditions_count = sizeof seccomp_conditions / sizeof seccomp_conditions[0];
