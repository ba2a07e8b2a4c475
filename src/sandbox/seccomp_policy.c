/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/seccomp_policy.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#define ALLOW SECCOMP_POLICY_ALLOW

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/* clang-format off */

/* Named once, since what becomes of them depends on the host. */
#define MODES_AND_TIMES       "chmod fchmod fchmodat fchmodat2 utime utimes utimensat futimesat"
#define OWNERS_AND_ATTRIBUTES "chown fchown lchown fchownat setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr"
#define SESSIONS              "setsid setpgid"
#define SIGNALS               "kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo"

/* The kernel looks at 32 bits of an int argument; what a program puts into the other 32 must not matter. */
#define INT_MASK 0xffffffffu

/* The part of a socket's type argument that is not a flag. */
#define SOCKET_TYPE 0xfu

/* The flags of clone are its first argument on both architectures. */
#define ANY_NAMESPACE                                                                                              \
  ((uint64_t) CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID           \
   | CLONE_NEWNET)

#define VALUES(...) (const struct seccomp_value[]) { __VA_ARGS__, { NULL, 0 } }
#define VALUE(name) { #name, (uint32_t) (name) }
#define ONE_OF(argument, name, mask, ...) COMPARE_MASKED, (argument), (name), (mask), VALUES (__VA_ARGS__)
#define ALSO(...) (const struct seccomp_condition[]) { __VA_ARGS__, { 0, NULL, 0, NULL } }
#define HAS(argument, name, ...)          COMPARE_HAS, (argument), (name), 0, VALUES (__VA_ARGS__)
#define NOT(argument, name, value)        COMPARE_NOT, (argument), (name), 0, VALUES (value)

const struct seccomp_rule seccomp_rules[] = {
  { ALLOW, WHEN_ALWAYS, "descriptors that are open already",
    "read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek close close_range dup dup2 dup3 "
    "flock fsync fdatasync sync_file_range ftruncate truncate fallocate fadvise64 readahead sendfile "
    "copy_file_range splice tee vmsplice" },
  { ALLOW, WHEN_ALWAYS, "waiting for descriptors and for time",
    "poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 pipe pipe2 "
    "eventfd eventfd2 signalfd signalfd4 timerfd_create timerfd_settime timerfd_gettime nanosleep clock_nanosleep "
    "pause" },
  { ALLOW, WHEN_ALWAYS, "files, by name: the mount tree and landlock say which",
    "open openat openat2 creat stat lstat fstat newfstatat statx access faccessat faccessat2 readlink readlinkat "
    "getcwd chdir fchdir mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat "
    "umask getdents getdents64 statfs fstatfs mknod mknodat getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr" },
  { ALLOW, WHEN_NAMESPACED, "modes, owners, times and attributes of files: shutil copies them",
    MODES_AND_TIMES " " OWNERS_AND_ATTRIBUTES },
  { SECCOMP_POLICY_PRETEND, WHEN_SHARED, "landlock does not cover them, and the caller's own files are in reach: nothing "
    "happens, and libraries that copy files are content",
    MODES_AND_TIMES },
  { EOPNOTSUPP, WHEN_SHARED, "nor these; who copies them takes this for an answer",
    OWNERS_AND_ATTRIBUTES },
  { ALLOW, WHEN_ALWAYS, "memory",
    "mmap munmap mremap mprotect brk madvise mincore msync mlock mlock2 munlock mlockall munlockall membarrier "
    "get_mempolicy set_mempolicy mbind" },
  { ALLOW, WHEN_ALWAYS, "processes and threads: pids.max and RLIMIT_NPROC count them",
    "fork vfork execve execveat exit exit_group wait4 waitid getpid getppid gettid getpgid getpgrp getsid "
    "set_tid_address set_robust_list get_robust_list rseq futex futex_waitv sched_yield sched_getaffinity "
    "sched_getparam sched_getscheduler sched_get_priority_max sched_get_priority_min "
    "sched_rr_get_interval sched_getattr getpriority getcpu arch_prctl getrusage times "
    "getrlimit setrlimit capget" },
  { ALLOW, WHEN_NAMESPACED, "sessions and process groups: all are the sandbox's own",
    SESSIONS },
  { ALLOW, WHEN_OTHERS_APART, "the standing of processes: the same",
    "sched_setaffinity setpriority prlimit64" },
  { SECCOMP_POLICY_PRETEND, WHEN_SHARED, "a run that cannot leave its process group ends with it, in one stroke",
    SESSIONS },
  { ALLOW, WHEN_SIGNALS_APART, "signals to others: nobody outside of the sandbox can be reached",
    SIGNALS },
  { EPERM, WHEN_SIGNALS_SHARED, "signals to others: they would reach every process of the same user",
    SIGNALS },
  { ALLOW, WHEN_ALWAYS, "a process's own signals and timers",
    "rt_sigaction rt_sigprocmask rt_sigpending rt_sigreturn rt_sigsuspend rt_sigtimedwait sigaltstack restart_syscall "
    "alarm getitimer setitimer timer_create timer_settime timer_gettime timer_getoverrun timer_delete" },
  { ALLOW, WHEN_ALWAYS, "who and where am I",
    "getuid geteuid getgid getegid getresuid getresgid getgroups uname sysinfo getrandom clock_gettime clock_getres "
    "gettimeofday time" },
  { ALLOW, WHEN_ALWAYS, "sockets, once one is there: the table below says which can be made",
    "listen accept accept4 getsockname getpeername getsockopt setsockopt shutdown sendto recvfrom sendmsg recvmsg "
    "sendmmsg recvmmsg" },
  { ALLOW, WHEN_NAMESPACED, "System V objects: the sandbox has an ipc namespace of its own; the table below says which can be made",
    "shmat shmctl shmdt semop semctl semtimedop msgsnd msgrcv msgctl" },

  { SECCOMP_POLICY_PRETEND, WHEN_ALWAYS, "would make the whole host wait for its disks; nothing here outlives the run",
    "sync syncfs" },

  { EPERM, WHEN_ALWAYS, "other processes' memory and descriptors",
    "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_getfd" },
  { EPERM, WHEN_ALWAYS, "namespaces and mounts",
    "unshare setns mount umount2 pivot_root chroot open_tree move_mount fsopen fsconfig fsmount fspick "
    "mount_setattr" },
  { EPERM, WHEN_ALWAYS, "ways around the file tree",
    "open_by_handle_at name_to_handle_at quotactl quotactl_fd fanotify_init fanotify_mark swapon swapoff acct "
    "lookup_dcookie" },
  { EPERM, WHEN_ALWAYS, "helpers of kernel exploits",
    "bpf perf_event_open userfaultfd modify_ldt seccomp" },
  { EPERM, WHEN_ALWAYS, "the host itself",
    "reboot kexec_load kexec_file_load init_module finit_module delete_module iopl ioperm syslog vhangup sethostname "
    "setdomainname settimeofday clock_settime adjtimex clock_adjtime nfsservctl" },
  { EPERM, WHEN_ALWAYS, "ids and rights, of which there are none",
    "setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups capset" },
  { EPERM, WHEN_ALWAYS, "places in the queue before others",
    "sched_setscheduler sched_setparam sched_setattr ioprio_set" },

  /* The rest is what ENOSYS is for; named for the reader, since it holds for what is not named as well. */
  { ENOSYS, WHEN_ALWAYS, "its flags lie behind a pointer, where no filter can look: the C library falls back to clone",
    "clone3" },
  { ENOSYS, WHEN_ALWAYS, "opens files and sockets past every filter",
    "io_uring_setup io_uring_enter io_uring_register" },
  { ENOSYS, WHEN_ALWAYS, "keyrings are not namespaced",
    "add_key request_key keyctl" },
  { ENOSYS, WHEN_ALWAYS, "asyncio and subprocess fall back from pidfds",
    "pidfd_open pidfd_send_signal" },
  { ENOSYS, WHEN_ALWAYS, "the count of inotify instances is shared with other sandboxes: watchers fall back to polling",
    "inotify_init inotify_init1 inotify_add_watch inotify_rm_watch" },
  { ENOSYS, WHEN_ALWAYS, "queues in kernel memory that no limit of ours counts",
    "mq_open io_setup io_submit memfd_secret" },

  /* From here on, an argument decides. */
  { ALLOW, WHEN_ALWAYS, "threads and processes without namespaces of their own, below their parent",
    "clone", ONE_OF (0, "flags", ANY_NAMESPACE | CLONE_PARENT, { "no namespace", 0 }) },
  { EPERM, WHEN_ALWAYS, "a namespace of its own would give a process rights, and with them the attack surface of root",
    "clone", HAS (0, "flags", VALUE (CLONE_NEWUSER), VALUE (CLONE_NEWNS), VALUE (CLONE_NEWCGROUP), VALUE (CLONE_NEWUTS),
                  VALUE (CLONE_NEWIPC), VALUE (CLONE_NEWPID), VALUE (CLONE_NEWNET)) },
  { EPERM, WHEN_ALWAYS, "a child of one's parent would be the zygote's, and out of sight of who adds up the sandbox's processes",
    "clone", HAS (0, "flags", VALUE (CLONE_PARENT)) },

  { ALLOW, WHEN_ALWAYS, "terminals are looked at and set, but not typed into: no TIOCSTI, TIOCLINUX, TIOCSETD",
    "ioctl", ONE_OF (1, "request", INT_MASK, VALUE (TCGETS), VALUE (TCSETS), VALUE (TCSETSW), VALUE (TCSETSF),
                     VALUE (TCGETS2), VALUE (TCSETS2), VALUE (TCSETSW2), VALUE (TCSETSF2), VALUE (TIOCGWINSZ),
                     VALUE (TIOCGPGRP), VALUE (TIOCOUTQ)) },
  { ALLOW, WHEN_NAMESPACED, "terminals of the sandbox's own (/dev/pts): opened, sized, flushed, led by a session and its groups",
    "ioctl", ONE_OF (1, "request", INT_MASK, VALUE (TIOCGPTN), VALUE (TIOCSPTLCK), VALUE (TIOCGPTPEER),
                     VALUE (TIOCSWINSZ), VALUE (TIOCSCTTY), VALUE (TIOCNOTTY), VALUE (TIOCSPGRP), VALUE (TIOCGSID),
                     VALUE (TCSBRK), VALUE (TCXONC), VALUE (TCFLSH)) },
  { ALLOW, WHEN_ALWAYS, "what any descriptor can be asked",
    "ioctl", ONE_OF (1, "request", INT_MASK, VALUE (FIONREAD), VALUE (FIONBIO), VALUE (FIOASYNC), VALUE (FIOCLEX),
                     VALUE (FIONCLEX)) },
  { ALLOW, WHEN_ALWAYS, "cp and lsattr try these and take no for an answer, if the answer is the file system's",
    "ioctl", ONE_OF (1, "request", INT_MASK, VALUE (FICLONE), VALUE (FS_IOC_GETFLAGS)) },

  /* The network namespace has no way out, but the sandboxes of a zygote share it, and with it the names of abstract
   * sockets. Landlock keeps those apart from its sixth version on; before, no socket is made that could be bound to a name
   * or connected to one. */
  { ALLOW, WHEN_NAMES_APART, "local sockets: multiprocessing, asyncio",
    "socket", ONE_OF (0, "family", INT_MASK, VALUE (AF_UNIX)) },
  { EAFNOSUPPORT, WHEN_NAMES_APART | WHEN_OFFLINE, "there is no network, and each family is kernel code to attack",
    "socket", NOT (0, "family", VALUE (AF_UNIX)) },
  { ALLOW, WHEN_NAMES_APART, "sockets within one sandbox",
    "socketpair bind connect" },
  { EAFNOSUPPORT, WHEN_NAMES_SHARED | WHEN_OFFLINE, "a socket could be connected to the name of somebody else's",
    "socket" },
  { EPERM, WHEN_NAMES_SHARED | WHEN_OFFLINE, "names by which sandboxes could meet",
    "bind connect" },
  { EAFNOSUPPORT, WHEN_NAMES_SHARED | WHEN_ONLINE, "a local socket could be connected to the name of somebody else's",
    "socket", ONE_OF (0, "family", INT_MASK, VALUE (AF_UNIX)) },
  { ALLOW, WHEN_NAMES_SHARED | WHEN_ONLINE, "of the network's sockets; of local ones there are but pairs, which stay as they are",
    "bind connect" },
  { ALLOW, WHEN_NAMES_SHARED, "pairs that stay connected to each other",
    "socketpair", ONE_OF (1, "type", SOCKET_TYPE, VALUE (SOCK_STREAM), VALUE (SOCK_SEQPACKET)) },
  { EAFNOSUPPORT, WHEN_NAMES_SHARED, "a datagram socket can be connected anew, however it came about",
    "socketpair", ONE_OF (1, "type", SOCKET_TYPE, VALUE (SOCK_DGRAM)) },

  { ALLOW, WHEN_ONLINE, "the network: what a proxy or the host's network carries",
    "socket", ONE_OF (0, "family", INT_MASK, VALUE (AF_INET), VALUE (AF_INET6)),
    ALSO ({ 1, "type", SOCKET_TYPE, VALUES (VALUE (SOCK_STREAM), VALUE (SOCK_DGRAM)) },
          { 2, "protocol", INT_MASK, VALUES ({ "0", 0 }, VALUE (IPPROTO_TCP), VALUE (IPPROTO_UDP)) }) },
  { EPERM, WHEN_ONLINE, "packets of its own making",
    "socket", ONE_OF (0, "family", INT_MASK, VALUE (AF_INET), VALUE (AF_INET6)),
    ALSO ({ 1, "type", SOCKET_TYPE, VALUES (VALUE (SOCK_RAW)) }) },
  { EAFNOSUPPORT, WHEN_ONLINE, "each further family is kernel code to attack",
    "socket", ONE_OF (0, "family", INT_MASK, VALUE (AF_NETLINK), VALUE (AF_PACKET), VALUE (AF_VSOCK), VALUE (AF_ALG),
                      VALUE (AF_BLUETOOTH), VALUE (AF_CAN), VALUE (AF_KEY), VALUE (AF_RDS), VALUE (AF_TIPC)) },

  { ALLOW, WHEN_COUNTED, "memory that no process has mapped: a watchdog that adds up processes cannot see it",
    "memfd_create" },
  { ALLOW, WHEN_COUNTED | WHEN_NAMESPACED, "the same, with names that only the sandbox's own ipc namespace knows",
    "shmget msgget semget" },

  { ALLOW, WHEN_OTHERS_NEAR, "others of the same user could be held back: the caller itself goes by the number 0",
    "prlimit64 sched_setaffinity", ONE_OF (0, "pid", INT_MASK, { "0", 0 }) },
  { EPERM, WHEN_OTHERS_NEAR, "the same; here the number 0 can mean all processes of the user",
    "setpriority" },

  { ALLOW, WHEN_ALWAYS, "not F_NOTIFY, which tells what others read in a directory, nor F_SETLEASE, which holds up others who "
    "open a file",
    "fcntl", ONE_OF (1, "command", INT_MASK, VALUE (F_DUPFD), VALUE (F_GETFD), VALUE (F_SETFD), VALUE (F_GETFL),
                     VALUE (F_SETFL), VALUE (F_GETLK), VALUE (F_SETLK), VALUE (F_SETLKW), VALUE (F_OFD_GETLK),
                     VALUE (F_OFD_SETLK), VALUE (F_OFD_SETLKW), VALUE (F_GETOWN), VALUE (F_GETSIG),
                     VALUE (F_DUPFD_CLOEXEC), VALUE (F_GETPIPE_SZ), VALUE (F_SETPIPE_SZ), VALUE (F_GET_SEALS),
                     VALUE (F_ADD_SEALS)) },
  { ALLOW, WHEN_SIGNALS_APART, "these have the kernel send a signal: elsewhere, to anybody of the same user",
    "fcntl", ONE_OF (1, "command", INT_MASK, VALUE (F_SETOWN), VALUE (F_SETOWN_EX), VALUE (F_SETSIG)) },

  { ALLOW, WHEN_ALWAYS, "asking for the personality, and the one that everybody has",
    "personality", ONE_OF (0, "persona", INT_MASK, { "0xffffffff", INT_MASK }, VALUE (PER_LINUX)) },

  { ALLOW, WHEN_ALWAYS, "a process tells its name, its parent's end, and what it may not do",
    "prctl", ONE_OF (0, "option", INT_MASK, VALUE (PR_SET_NAME), VALUE (PR_GET_NAME), VALUE (PR_SET_PDEATHSIG),
                     VALUE (PR_GET_PDEATHSIG), VALUE (PR_GET_DUMPABLE), VALUE (PR_GET_SECCOMP),
                     VALUE (PR_SET_NO_NEW_PRIVS), VALUE (PR_GET_NO_NEW_PRIVS), VALUE (PR_CAPBSET_READ),
                     VALUE (PR_GET_SECUREBITS)) },
  { ALLOW, WHEN_ALWAYS, "timers, huge pages, and names for memory, which allocators give",
    "prctl", ONE_OF (0, "option", INT_MASK, VALUE (PR_SET_TIMERSLACK), VALUE (PR_GET_TIMERSLACK),
                     VALUE (PR_SET_THP_DISABLE), VALUE (PR_GET_THP_DISABLE), VALUE (PR_SET_VMA)) },
};
const size_t seccomp_rules_count = sizeof seccomp_rules / sizeof seccomp_rules[0];
/* clang-format on */

const char *
seccomp_when_text (enum seccomp_when when)
{
  switch (when) {
  case WHEN_ALWAYS:
    break;
  case WHEN_NAMESPACED:
    return "where a sandbox has namespaces of its own";
  case WHEN_SHARED:
    return "where a sandbox lives in the host's namespaces";
  case WHEN_NAMES_APART:
    return "where sockets of others cannot be named: by landlock 6";
  case WHEN_NAMES_SHARED:
    return "where sockets of others could be named";
  case WHEN_SIGNALS_APART:
    return "where nobody else can be signalled: own namespaces, or landlock 6";
  case WHEN_SIGNALS_SHARED:
    return "where others could be signalled";
  case WHEN_COUNTED:
    return "where a control group counts a run's memory";
  case WHEN_OFFLINE:
    return "where a sandbox has no network";
  case WHEN_ONLINE:
    return "where a profile gives it one";
  case WHEN_OTHERS_APART:
    return "where no process but the sandbox's own can be named";
  case WHEN_OTHERS_NEAR:
    return "where processes of the same user can be named: the host's, or in a container the zygote";
  }
  return "always";
}
