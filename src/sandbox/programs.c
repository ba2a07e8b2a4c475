/* SPDX-License-Identifier: Apache-2.0 */
/* What is allowed looks, counts, sorts, cuts and fetches. What is refused has its reason with it; that no
 * other name can be run is the rule, so this list is there for what is said of the names in it, and holds
 * even for names that somebody defines as functions. */
#include "sandbox/programs.h"

#include <string.h>

/* clang-format off */
#define FILES(which)   { .kind = PROGRAM_FILE, .names = (which) }
#define BUILTIN(which) { .kind = PROGRAM_BUILTIN, .names = (which) }
#define REFUSED(which, why) { .kind = PROGRAM_REFUSED, .names = (which), .hint = (why) }

const struct program_row program_rows[] = {
  FILES ("cat tac head tail cut paste join sort uniq comm tr nl fold fmt pr column rev expand unexpand tsort shuf"),
  FILES ("wc cksum sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum"),
  FILES ("grep egrep fgrep sed awk gawk mawk jq xmllint"),
  FILES ("diff cmp diff3 od xxd hexdump strings file base32 base64 basenc"),
  FILES ("ls stat du df tree basename dirname realpath readlink pathchk"),
  FILES ("zcat zgrep gzip gunzip bzcat bzip2 xzcat xz tar"),
  FILES ("which echo printf test [ true false expr seq factor numfmt bc dc"),
  FILES ("date cal pwd id whoami uname nproc arch printenv locale getconf tty sleep tee mktemp iconv"),
  { .kind = PROGRAM_FILE, .arguments = ARGUMENTS_HOSTS, .names = "curl wget" },
  { .kind = PROGRAM_FILE, .arguments = ARGUMENTS_FIND, .names = "find" },
  { .kind = PROGRAM_FILE, .arguments = ARGUMENTS_COMMAND, .names = "xargs", .options = "adEInLPs",
    .long_options = " --arg-file --delimiter --replace --max-lines --max-args --max-procs --max-chars --process-slot-var " },
  { .kind = PROGRAM_FILE, .arguments = ARGUMENTS_COMMAND, .names = "env", .options = "uC",
    .long_options = " --unset --chdir ", .assigns = true },
  { .kind = PROGRAM_FILE, .arguments = ARGUMENTS_COMMAND, .names = "timeout", .options = "ks",
    .long_options = " --kill-after --signal ", .operands = 1 },
  { .kind = PROGRAM_FILE, .arguments = ARGUMENTS_COMMAND, .names = "nice", .options = "n",
    .long_options = " --adjustment " },
  { .kind = PROGRAM_FILE, .arguments = ARGUMENTS_COMMAND, .names = "time", .options = "fo",
    .long_options = " --format --output " },
  { .kind = PROGRAM_FILE, .arguments = ARGUMENTS_COMMAND, .names = "stdbuf", .options = "ioe",
    .long_options = " --input --output --error " },
  { .kind = PROGRAM_FILE, .arguments = ARGUMENTS_COMMAND, .names = "nohup" },

  BUILTIN (": break continue exit return shift wait cd getopts hash jobs set times type umask ulimit unset"),
  { .kind = PROGRAM_BUILTIN, .arguments = ARGUMENTS_VARIABLES, .names = "export readonly local read" },
  { .kind = PROGRAM_BUILTIN, .arguments = ARGUMENTS_COMMAND, .names = "command exec" },
  { .kind = PROGRAM_BUILTIN, .arguments = ARGUMENTS_CODE, .names = "trap" },

  REFUSED ("rm rmdir unlink shred srm wipe", "Nothing can be deleted here; what the call made is gone when it ends."),
  REFUSED ("mkfs mke2fs mkswap fdisk sfdisk cfdisk parted dd losetup mount umount fsck wipefs blkdiscard swapon swapoff",
           "Disks and file systems are out of reach; head, tail, cut and od read parts of files."),
  REFUSED ("mv cp ln install mkdir mkfifo mknod touch truncate fallocate split csplit rsync patch",
           "Files are only read; write what a command prints with > to a file in /tmp, or use run_python."),
  REFUSED ("chmod chown chgrp chattr setfacl setcap setfattr", "Rights and owners of files cannot be changed."),
  REFUSED ("sudo su doas pkexec runuser newgrp setpriv passwd useradd userdel usermod groupadd visudo chsh",
           "There is nobody else to become, and no accounts."),
  REFUSED ("eval source .", "Code that is put together while it runs cannot be looked at: write the command itself."),
  REFUSED ("alias unalias enable builtin", "The meaning of names cannot be changed: write the command itself."),
  REFUSED ("sh bash dash zsh ksh ash fish csh tcsh busybox toybox", "No other shell is run: write its commands into this one."),
  REFUSED ("python python2 python3 perl ruby node nodejs php lua tclsh Rscript java ghc julia",
           "Interpreters are not there; Python code is for run_python."),
  REFUSED ("gcc cc g++ clang tcc as ld make cmake cargo rustc go gdb strace ltrace perf",
           "Compilers and debuggers are not there: what is built cannot be run."),
  REFUSED ("ssh scp sftp ssh-keygen ssh-agent telnet ftp tftp lftp rlogin rsh",
           "Other machines are out of reach; curl and wget fetch from hosts that were allowed."),
  REFUSED ("nc ncat netcat socat nmap tcpdump ping traceroute dig host nslookup ip ifconfig route iptables nft arp ss netstat",
           "There is no network but that of curl and wget, to hosts that were allowed."),
  REFUSED ("docker podman nerdctl ctr kubectl runc crun buildah helm", "Containers cannot be started from here."),
  REFUSED ("systemctl service journalctl init shutdown reboot halt poweroff telinit crontab at batch",
           "The machine and its services are out of reach."),
  REFUSED ("kill killall pkill skill", "Processes end by themselves with the call; timeout bounds how long a command runs."),
  REFUSED ("insmod rmmod modprobe sysctl dmesg kexec", "The kernel is out of reach."),
  REFUSED ("unshare nsenter chroot setsid capsh bwrap firejail pivot_root", "The sandbox cannot be left or nested."),
  REFUSED ("apt apt-get dpkg yum dnf rpm apk pacman snap flatpak pip pip3 pipx uv conda mamba "
           "poetry easy_install npm npx gem brew",
           "Nothing can be installed; run_python has its packages already."),
  REFUSED ("git svn hg", "Repositories are not worked on here."),
  REFUSED ("vi vim nano ed ex emacs less more man top htop watch screen tmux script expect",
           "There is no terminal and nobody at it: cat, sed and head print files."),
  REFUSED ("parallel", "Use xargs -P."),
  REFUSED ("mail sendmail mutt", "No mail leaves the sandbox."),
  REFUSED ("gpg openssl", "Keys are not handled here; md5sum, sha256sum and base64 are there."),
  REFUSED ("[[ function select coproc declare typeset let shopt pushd popd mapfile readarray disown",
           "This is a POSIX shell: it has [ ], name() { }, $(( )), while and read."),
};
/* clang-format on */
const size_t program_rows_count = sizeof program_rows / sizeof program_rows[0];

const char *
programs_next (const char **list, size_t *ret_length)
{
  const char *word = *list + strspn (*list, " ");
  *ret_length = strcspn (word, " ");
  *list = word + *ret_length;
  return *ret_length > 0 ? word : NULL;
}

const struct program_row *
programs_find (const char *name, size_t length)
{
  for (size_t i = 0; i < program_rows_count; i++) {
    const char *list = program_rows[i].names, *word;
    size_t found;
    while ((word = programs_next (&list, &found)))
      if (found == length && memcmp (word, name, length) == 0)
        return &program_rows[i];
  }
  return NULL;
}
