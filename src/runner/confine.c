/* SPDX-License-Identifier: Apache-2.0 */
/* Theory of operation. Each step needs rights that a later one takes away: mounting needs the zygote's user
 * namespace, its /proc must be seen for a new one, id maps are written through /proc/self while the process
 * is dumpable, dropping capabilities needs CAP_SETPCAP, landlock forbids mounting, and seccomp forbids nearly
 * all of it. So the order of a table is fixed, and a step that fails ends the child: half a sandbox is
 * none. What a host lacks is said by a step's result, and its bit is not set. */
#include "runner/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disable_layers.h"
#include "base/fd.h"
#include "base/frame.h"
#include "runner/container.h"
#include "runner/wire.h"
#include "sandbox/capabilities.h"
#include "sandbox/landlock.h"
#include "sandbox/memory.h"
#include "sandbox/mitigations.h"
#include "sandbox/mounts.h"
#include "sandbox/network.h"
#include "sandbox/places.h"
#include "sandbox/rlimits.h"

/* While the sandbox is being made: the zygote's whole /proc, which the sandbox itself no longer sees. */
#define PROC_FD (WIRE_SOCKET_FD + 1)

/* Copies are made from here on, out of the way of the numbers that are to be settled. */
#define SPARE_FD 64

/* More than any environment has roots, or programs with their libraries. */
#define RULES_MAX 512

/* A step returns 0, LACKING when the host does not offer it, or a negative errno. */
#define LACKING 1

struct state {
  const struct confinement *want;
  uint32_t mechanisms;
  uint32_t flags; /* enum wire_ready_flag */
  int socket_fd;
  int proc_fd;
  int place_fd[2]; /* for PLACE_WORK and PLACE_TMP */
};

/* What cannot be looked at is not known to be another one. */
static bool
has_left (const struct state *state, const struct namespaces_seen *now, enum namespace which)
{
  ino_t own = now->inode[which], zygote = state->want->zygote->inode[which];
  return own != 0 && zygote != 0 && own != zygote;
}

static int
enter_namespaces (struct state *state, struct fault *fault)
{
  if (!layer_is_disabled (LAYER_IPC) && setns (state->want->init_fd, CLONE_NEWIPC) < 0)
    return fault_set (fault, errno, "cannot enter the ipc namespace of the init");
  if (unshare (CLONE_NEWNS) < 0)
    return fault_set (fault, errno, "cannot make a mount namespace");
  static const struct {
    enum namespace which;
    uint32_t mechanism;
    enum layer layer;
  } left[] = {
      {NAMESPACE_MOUNT, WIRE_MOUNT_NAMESPACE, LAYERS},
      {NAMESPACE_IPC, WIRE_IPC_NAMESPACE, LAYER_IPC},
      {NAMESPACE_PID, WIRE_PID_NAMESPACE, LAYER_PID},
  };
  struct namespaces_seen now = namespaces_look ();
  for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
    if (left[i].layer != LAYERS && layer_is_disabled (left[i].layer))
      continue;
    if (!has_left (state, &now, left[i].which))
      return fault_set (fault, EPERM, "namespace %zu is still the zygote's", i);
    state->mechanisms |= left[i].mechanism;
  }
  return 0;
}

/* The listening socket is the daemon's alone: who is confined later never had it. */
static int
enter_network (struct state *state, struct fault *fault)
{
  autoclose int listener = -1;
  if (!state->want->network)
    return 0;
  int r = network_enter (&listener, fault);
  if (r < 0)
    return r;
  struct namespaces_seen now = namespaces_look ();
  if (!has_left (state, &now, NAMESPACE_NET))
    return fault_set (fault, EPERM, "the network namespace is still the zygote's");
  r = frame_send (state->socket_fd, WIRE_LISTENER, NULL, 0, &listener, 1);
  return r < 0 ? fault_set (fault, -r, "cannot hand over the proxy's socket") : 0;
}

static int
leave_zygote (struct state *state, struct fault *fault)
{
  sigset_t none;
  (void)state;
  sigemptyset (&none);
  /* Should the zygote be dead by now, so is this process: it was pid 1 of the namespace above. */
  if (prctl (PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || sigprocmask (SIG_SETMASK, &none, NULL) < 0)
    return fault_set (fault, errno, "cannot detach from the zygote");
  if (setsid () < 0)
    return fault_set (fault, errno, "cannot start a session");
  prctl (PR_SET_NAME, "adder-run", 0, 0, 0);
  umask (022);
  return 0;
}

/* A session's. Returns LACKING where there is nothing to have places by. */
static int
mount_places (struct state *state, struct fault *fault)
{
  bool entered;
  int r = places_enter (state->want->limits, state->want->workspace_fd, &entered, fault);
  if (r == 0 && entered)
    r = places_open (state->place_fd, fault);
  if (r < 0 || !entered)
    return r < 0 ? r : LACKING;
  state->mechanisms |= WIRE_FRESH_PROC;
  state->flags |= WIRE_READY_PLACES;
  if (chdir (PLACES_WORK) < 0)
    return fault_set (fault, errno, "cannot change to " PLACES_WORK);
  return 0;
}

static int
mount_own (struct state *state, struct fault *fault)
{
  bool fresh_proc;
  state->proc_fd = open ("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (state->proc_fd < 0)
    return fault_set (fault, errno, "cannot open the zygote's /proc");
  int r = state->want->session ? mount_places (state, fault) : LACKING;
  if (r != LACKING)
    return r;
  struct mounts_given given = {
      .workspace_fd = state->want->workspace_fd,
      .own_path = state->want->own_path,
      .overlay = state->want->overlay,
      .read_only = state->want->read_only,
      .inert = state->want->runnable != NULL,
  };
  memcpy (given.bind_fd, state->want->bind_fd, sizeof given.bind_fd);
  for (int i = 0; i < MOUNTS_FILES; i++)
    given.file_path[i] = state->want->files[i];
  r = mounts_enter (state->want->limits, &given, &fresh_proc, fault);
  if (r < 0)
    return r;
  if (fresh_proc)
    state->mechanisms |= WIRE_FRESH_PROC;
  if (chdir ("/work") < 0)
    return fault_set (fault, errno, "cannot change to /work");
  return 0;
}

static int
confine_offer_to_oom_killer (struct state *state, struct fault *fault)
{
  (void)state;
  return container_offer_to_oom_killer (fault);
}

/* A directory of the daemon's, or of the container, where the sandbox has no mounts of its own. */
static int
enter_workspace (struct state *state, struct fault *fault)
{
  if (fchdir (state->want->workspace_fd) < 0 || chdir ("work") < 0)
    return fault_set (fault, errno, "cannot change to the workspace");
  return 0;
}

/* Without a pid namespace, what is left of the sandbox while it runs stays below it, where its memory and
 * time are seen. */
static int
adopt_orphans (struct state *state, struct fault *fault)
{
  (void)state;
  if (prctl (PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
    return fault_set (fault, errno, "cannot adopt orphans");
  return 0;
}

struct settled {
  int from, to;
  bool inherited; /* by programs that are started */
};

static bool
is_optional (int to)
{
  return to > WIRE_SOCKET_FD;
}

/* Closes the descriptors from FIRST up to, but not with, END. */
static int
confine_close_others (unsigned int first, unsigned int end, struct fault *fault)
{
  if (!layer_is_disabled (LAYER_DESCRIPTORS) && first < end && close_range (first, end - 1, 0) < 0)
    return fault_set (fault, errno, "cannot close other descriptors");
  return 0;
}

/* Where SPARE_FD is beyond what the process may have, fcntl says EINVAL for what is EMFILE otherwise. */
static int
spare_errno (void)
{
  int err = errno;
  struct rlimit limit;
  return err == EINVAL && getrlimit (RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= SPARE_FD ? EMFILE : err;
}

static int
confine_settle_descriptors (struct state *state, struct fault *fault)
{
  /* Not the zygote's /dev/null: its description is shared with every other sandbox, flags and all. */
  struct settled settled[] = {
      {open ("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO, true},
      {state->want->stdout_fd, STDOUT_FILENO, true},
      {state->want->stderr_fd, STDERR_FILENO, true},
      {state->socket_fd, WIRE_SOCKET_FD, false},
      {state->proc_fd, PROC_FD, false},
      {state->place_fd[0], PLACE_WORK, true},
      {state->place_fd[1], PLACE_TMP, true},
  };
  enum { COUNT = sizeof settled / sizeof settled[0] };
  /* First all out of the way, since any of them may have a number that another one shall get. */
  for (int i = 0; i < COUNT; i++) {
    if (is_optional (settled[i].to) && settled[i].from < 0)
      continue;
    settled[i].from = fcntl (settled[i].from, F_DUPFD_CLOEXEC, SPARE_FD);
    if (settled[i].from < 0)
      return fault_set (fault, spare_errno (), "cannot set descriptor %d aside", settled[i].to);
  }
  unsigned int next = 0;
  for (int i = 0; i < COUNT; i++) {
    if (settled[i].from < 0)
      continue;
    if (dup3 (settled[i].from, settled[i].to, settled[i].inherited ? 0 : O_CLOEXEC) < 0)
      return fault_set (fault, errno, "cannot settle descriptor %d", settled[i].to);
    if (confine_close_others (next, (unsigned int)settled[i].to, fault) < 0)
      return -fault->err;
    next = (unsigned int)settled[i].to + 1;
  }
  state->socket_fd = WIRE_SOCKET_FD;
  if (state->proc_fd >= 0)
    state->proc_fd = PROC_FD;
  return confine_close_others (next, FD_LAST + 1, fault);
}

static int
limit_resources (struct state *state, struct fault *fault)
{
  return rlimits_apply (state->want->limits, fault);
}

/* Missing host features are reported, but do not block the run. */
static int
mitigate (struct state *state, struct fault *fault)
{
  (void)fault;
  state->mechanisms |= mitigations_apply (state->want->mitigations) << WIRE_MITIGATIONS;
  return 0;
}

/* The maps are written through the zygote's /proc: where the host masks its own, the sandbox has no other. */
static int
nest_user_namespace (struct state *state, struct fault *fault)
{
  return namespaces_nest (state->proc_fd, fault);
}

/* After the user namespace, in which alone they are counted: sandbox/rlimits.h says why. */
static int
limit_processes (struct state *state, struct fault *fault)
{
  return rlimits_apply_processes (state->want->limits, 0, fault);
}

/* In the host's namespaces, the processes of the user count with the sandbox's; and the daemon, which may be
 * another user there, cannot set the memory limit from outside. */
static int
limit_processes_and_memory (struct state *state, struct fault *fault)
{
  int r = rlimits_apply_processes (state->want->limits, rlimits_count_tasks (), fault);
  return r < 0 ? r : rlimits_apply_memory (state->want->limits, memory_data_bytes (), fault);
}

static int
seal_user_namespace (struct state *state, struct fault *fault)
{
  int r = namespaces_seal (state->proc_fd, fault);
  fd_close (&state->proc_fd);
  return r;
}

static int
confine_drop_capabilities (struct state *state, struct fault *fault)
{
  (void)state;
  return capabilities_drop (fault);
}

static int
clear_capabilities (struct state *state, struct fault *fault)
{
  (void)state;
  return capabilities_clear (fault);
}

/* Not in the host's namespaces: there the daemon, should it be the same user, has no right to look into a
 * process that is not dumpable, and could not tell which memory forks share. Landlock and seccomp keep others
 * out. */
static int
become_undumpable (struct state *state, struct fault *fault)
{
  (void)state;
  if (prctl (PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
    return fault_set (fault, errno, "cannot become undumpable");
  return 0;
}

static int
close_doors (struct state *state, struct fault *fault)
{
  (void)state;
  /* A change of ids and rights forgets it. */
  if (prctl (PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
    return fault_set (fault, errno, "cannot ask to die with the zygote");
  /* The launcher set it, and it cannot be unset; landlock and seccomp rest on it. */
  if (prctl (PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
    return fault_set (fault, EPERM, "no_new_privs is not set");
  return 0;
}

struct rules {
  struct landlock_rule list[RULES_MAX];
  size_t count;
};

static int
add_rules (struct rules *rules, const struct landlock_rule *list, size_t count, unsigned inert,
           struct fault *fault)
{
  for (size_t i = 0; i < count; i++) {
    if (rules->count == RULES_MAX)
      return fault_set (fault, E2BIG, "there are more than %d places for landlock", RULES_MAX);
    rules->list[rules->count] = list[i];
    rules->list[rules->count++].right |= inert;
  }
  return 0;
}

static int
confine_add_paths (struct rules *rules, const char *const *paths, unsigned right, struct fault *fault)
{
  int r = 0;
  for (; paths && *paths && r == 0; paths++)
    r = add_rules (rules, &(struct landlock_rule){*paths, right, true}, 1, 0, fault);
  return r;
}

/* LIST, and what can be executed where not all can that is in it. */
static int
enforce_rules (struct state *state, const struct landlock_rule *list, size_t count, struct fault *fault)
{
  struct rules rules = {.count = 0};
  const struct confinement *want = state->want;
  unsigned inert = want->runnable ? LANDLOCK_INERT : 0;
  int r = add_rules (&rules, list, count, inert, fault);
  if (r == 0 && want->isolation == ISOLATION_PROCESS)
    r = confine_add_paths (&rules, want->readable, LANDLOCK_READ | inert, fault);
  if (r == 0)
    r = confine_add_paths (&rules, want->runnable, LANDLOCK_READ, fault);
  return r < 0 ? r : landlock_confine (want->landlock_abi, want->online, rules.list, rules.count, fault);
}

static int
enforce_landlock (struct state *state, struct fault *fault)
{
  if (state->want->landlock_abi <= 0)
    return LACKING;
  if (state->flags & WIRE_READY_PLACES)
    return enforce_rules (state, landlock_session_rules, landlock_session_rules_count, fault);
  return enforce_rules (state, landlock_tree_rules, landlock_tree_rules_count, fault);
}

static int
enforce_landlock_contained (struct state *state, struct fault *fault)
{
  if (state->want->landlock_abi <= 0)
    return LACKING;
  return enforce_rules (state, landlock_container_rules, landlock_container_rules_count, fault);
}

/* Where landlock is all that stands before the host's files. The workspace is where we are. */
static int
enforce_landlock_alone (struct state *state, struct fault *fault)
{
  static const struct landlock_rule own[] = {
      {".", LANDLOCK_CHANGE, false},          {"../tmp", LANDLOCK_CHANGE, false},
      {"/dev/null", LANDLOCK_WRITE, false},   {"/dev/zero", LANDLOCK_WRITE, true},
      {"/dev/full", LANDLOCK_WRITE, true},    {"/dev/random", LANDLOCK_WRITE, true},
      {"/dev/urandom", LANDLOCK_WRITE, true},
  };
  if (state->want->landlock_abi < LANDLOCK_ABI_ALONE)
    return fault_set (fault, EOPNOTSUPP, "landlock version %d is not enough without namespaces",
                      state->want->landlock_abi);
  return enforce_rules (state, own, sizeof own / sizeof own[0], fault);
}

/* That the links lead to the places, and not past them. */
static int
check_places (struct state *state, struct fault *fault)
{
  if ((state->flags & WIRE_READY_PLACES) && !places_hold ())
    return fault_set (fault, EBADF, "/work and /tmp are not the session's own");
  return 0;
}

static int
install_seccomp (struct state *state, struct fault *fault)
{
  return filter_install (state->want->program, fault);
}

struct confine_step {
  int (*run) (struct state *state, struct fault *fault);
  uint32_t mechanism; /* what holds when it returned 0 */
  enum layer layer;   /* which it is; LAYERS: none that could be left out */
};

static const struct confine_step namespaces_steps[] = {
    {enter_namespaces, 0, LAYERS},
    {enter_network, 0, LAYERS},
    {leave_zygote, 0, LAYERS},
    {mount_own, 0, LAYERS},
    {confine_settle_descriptors, 0, LAYERS},
    {limit_resources, 0, LAYER_RLIMITS},
    {mitigate, 0, LAYERS},
    {nest_user_namespace, 0, LAYER_NEST},
    {limit_processes, 0, LAYERS},
    {seal_user_namespace, WIRE_USER_NAMESPACE, LAYER_SEAL},
    {confine_drop_capabilities, WIRE_CAPABILITIES, LAYER_CAPABILITIES},
    {become_undumpable, 0, LAYER_DUMPABLE},
    {check_places, 0, LAYERS},
    {close_doors, WIRE_NO_NEW_PRIVS, LAYERS},
    {enforce_landlock, WIRE_LANDLOCK, LAYER_LANDLOCK},
    {install_seccomp, WIRE_SECCOMP, LAYER_SECCOMP},
    {NULL, 0, LAYERS},
};

/* In the host's namespaces. What is limited here is what a mistake would cost. */
static const struct confine_step host_steps[] = {
    {leave_zygote, 0, LAYERS},
    {adopt_orphans, 0, LAYERS},
    {enter_workspace, 0, LAYERS},
    {confine_settle_descriptors, 0, LAYERS},
    {limit_resources, 0, LAYER_RLIMITS},
    {mitigate, 0, LAYERS},
    {limit_processes_and_memory, 0, LAYERS},
    {NULL, 0, LAYERS},
};

static const struct confine_step process_steps[] = {
    {clear_capabilities, WIRE_CAPABILITIES, LAYER_CAPABILITIES},
    {close_doors, WIRE_NO_NEW_PRIVS, LAYERS},
    {enforce_landlock_alone, WIRE_LANDLOCK, LAYER_LANDLOCK},
    {install_seccomp, WIRE_SECCOMP, LAYER_SECCOMP},
    {NULL, 0, LAYERS},
};

/* The container has limited processes and memory already. */
static const struct confine_step container_steps[] = {
    {leave_zygote, 0, LAYERS},
    {confine_offer_to_oom_killer, 0, LAYERS},
    {enter_workspace, 0, LAYERS},
    {confine_settle_descriptors, 0, LAYERS},
    {limit_resources, 0, LAYER_RLIMITS},
    {mitigate, 0, LAYERS},
    {clear_capabilities, WIRE_CAPABILITIES, LAYER_CAPABILITIES},
    {become_undumpable, 0, LAYER_DUMPABLE},
    {close_doors, WIRE_NO_NEW_PRIVS, LAYERS},
    {enforce_landlock_contained, WIRE_LANDLOCK, LAYER_LANDLOCK},
    {install_seccomp, WIRE_SECCOMP, LAYER_SECCOMP},
    {NULL, 0, LAYERS},
};

static int
confine_walk (const struct confine_step *step, struct state *state, struct fault *fault)
{
  int r = 0;
  for (; step->run && r >= 0; step++) {
    if (step->layer != LAYERS && layer_is_disabled (step->layer))
      continue;
    r = step->run (state, fault);
    if (r == 0)
      state->mechanisms |= step->mechanism;
  }
  return r;
}

int
confine (const struct confinement *confinement, uint32_t *ret_mechanisms, uint32_t *ret_flags,
         int *ret_socket_fd, struct fault *fault)
{
  static const struct confine_step *const tables[ISOLATIONS][2] = {
      [ISOLATION_NONE] = {host_steps},
      [ISOLATION_PROCESS] = {host_steps, process_steps},
      [ISOLATION_NAMESPACES] = {namespaces_steps},
      [ISOLATION_CONTAINER] = {container_steps},
  };
  const struct confine_step *const *table = tables[confinement->isolation];
  struct state state = {
      .want = confinement, .socket_fd = confinement->socket_fd, .proc_fd = -1, .place_fd = {-1, -1}};
  int r = confine_walk (table[0], &state, fault);
  if (r >= 0 && table[1])
    r = confine_walk (table[1], &state, fault);
  *ret_socket_fd = state.socket_fd;
  if (r < 0)
    return r;
  *ret_mechanisms = state.mechanisms;
  *ret_flags = state.flags;
  return 0;
}
