# SPDX-License-Identifier: Apache-2.0
"""IPython's InteractiveShell in sessions, where the environment has it: magics, `!command`, help, In and Out.

The shell is made in the zygote, so that a session has it at once, and stays unknown there: a run that is not a session finds
none, as a script would. Cells are executed by session.py, not by run_cell, which takes a millisecond for what it may have to
do; only what is no Python goes through IPython's transformations first."""

import atexit
import os
import re
import sys
import weakref

from adder_runner import display, hints

NO_INSTALL = "No packages can be installed from inside a sandbox: it has no network, and its environment is shared and read-only."
# Magics that are commands for installing.
INSTALLERS = ("pip", "conda", "mamba", "micromamba", "uv")
# By these libraries know that somebody sits before it.
PROMPTS = {"ps1": "In : ", "ps2": "...: ", "ps3": "Out: "}
FIRST_WORD = re.compile(r"\s*([A-Za-z_]\w*)")

HOME = os.path.join(os.environ.get("HOME", "/tmp"), ".ipython")

prepared = None  # the shell, made in the zygote


def prepare():
    """To be called in the zygote: makes the shell. None where there is no IPython, or one that is too different: then sessions are
    plain."""
    global prepared
    try:
        prepared = make()
    except Exception:
        prepared = None
    return prepared


def take():
    """The shell for a session, None where there is none."""
    if prepared is None:
        prepare()  # of an environment whose modules were not loaded ahead
    return prepared


def version():
    return sys.modules["IPython"].__version__


def make():
    """A shell that nothing refers to: neither IPython nor __main__, neither hooks nor builtins."""
    from IPython.core import oinspect  # noqa: F401 - help is for everybody
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.HistoryAccessor.enabled = False
    config.InteractiveShell.colors = "NoColor" if sys.modules["IPython"].version_info < (9,) else "nocolor"
    config.InteractiveShell.autoindent = False
    config.Completer.use_jedi = False
    known = set(weakref.finalize._registry)
    saved = sys.modules["__main__"], sys.excepthook, sys.displayhook, sys.path[:], dict(os.environ)
    try:
        shell = shell_class()(config=config)
        shell.settle()
    finally:
        sys.modules["__main__"], sys.excepthook, sys.displayhook = saved[:3]
        sys.path[:] = saved[3]
        for name in set(os.environ) - set(saved[4]):
            del os.environ[name]
    for name in PROMPTS:
        vars(sys).pop(name, None)
    vars(sys.modules["builtins"]).pop("__IPYTHON__", None)
    # IPython before 8.6 keeps the null device open, for nothing; a zygote with a descriptor that it does not know refuses to serve.
    devnull = getattr(sys.modules.get("IPython.utils.io"), "devnull", None)
    if devnull is not None:
        atexit.unregister(devnull.close)
        devnull.close()
    # They would cost every run that ends as a script does, and have nothing to do there.
    atexit.unregister(shell.atexit_operations)
    atexit.unregister(shell.magics_manager.registry["ScriptMagics"].kill_bg_processes)
    for finalizer in set(weakref.finalize._registry) - known:
        finalizer.detach()
    if not weakref.finalize._registry:
        atexit.unregister(weakref.finalize._exitfunc)
        weakref.finalize._registered_with_atexit = False
    return shell


def shell_class():
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher
    from IPython.core.error import UsageError
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.core.profiledir import ProfileDir

    class Publisher(DisplayPublisher):
        def publish(self, data, metadata=None, *ignored, transient=None, update=False, **more):
            display.publish(data, metadata, (transient or {}).get("display_id"), update)

        def clear_output(self, wait=False):
            pass

    class Hook(DisplayHook):
        """Values of code that is run by a magic or by run_cell."""

        @property
        def prompt_count(self):
            """IPython 8 and 9 count differently."""
            return self.shell.number

        def __call__(self, result=None):
            if result is not None and not self.quiet():
                display.publish(*display.bundle(result))
                self.update_user_ns(result)
                self.fill_exec_result(result)

    class Shell(InteractiveShell):
        display_pub_class = Publisher
        displayhook_class = Hook
        number = 0  # of the cell
        failed = None  # an exception that a magic has shown and kept to itself
        system = InteractiveShell.system_raw  # the other wants a terminal

        def init_ipython_dir(self, ipython_dir):
            self._trait_values["ipython_dir"] = HOME

        def init_profile_dir(self, profile_dir):
            """None on disk; only %store would use one."""
            self.profile_dir = ProfileDir()
            self.profile_dir._trait_values["location"] = HOME

        def init_virtualenv(self):
            pass

        def init_logstart(self):
            pass

        def enable_gui(self, gui=None):
            pass

        def enable_matplotlib(self, gui=None):
            return "inline", "agg"

        def ask_exit(self):
            raise SystemExit

        def _showtraceback(self, kind, error, lines):
            self.failed = error if isinstance(error, BaseException) else None
            print("\n".join(lines), file=sys.stderr)

        def enter(self):
            """Becomes the one shell of this process."""
            for cls in type(self)._walk_mro():
                cls._instance = self
            display.shell = self
            builtins = sys.modules["builtins"]
            builtins.get_ipython, builtins.__IPYTHON__ = self.get_ipython, True
            vars(sys).update(PROMPTS)
            sys.displayhook = self.displayhook

        def settle(self):
            """Notes what there is before any code ran. All of it is made on first use: that is now."""
            self.initial = (list(self.ast_transformers), list(self.input_transformers_post))
            self.initial_printers = self.count_printers()
            self.initial_events = {name: list(callbacks) for name, callbacks in self.events.callbacks.items()}

        def count_printers(self):
            tables = self.display_formatter.formatters.values()
            return sum(len(kind.type_printers) + len(kind.deferred_printers) + len(kind.singleton_printers) for kind in tables)

        def has_printers(self):
            """Whether code has registered how its objects are shown."""
            return self.count_printers() != self.initial_printers

        # ---- a cell of session.py ----

        def begin(self, number, code):
            """In, Out and their kin say that cell NUMBER is CODE."""
            self.number = self.execution_count = number
            self.failed = None
            history = self.history_manager
            for inputs in (history.input_hist_parsed, history.input_hist_raw):
                while len(inputs) < number:
                    inputs.append("")
                del inputs[number:]
                inputs.append(code)
            names = self.user_ns
            names["_iii"], names["_ii"], names["_i"] = names.get("_ii", ""), names.get("_i", ""), code
            self.fire("pre_execute")
            self.fire("pre_run_cell", None)

        def end(self, outcome):
            self.fire("post_execute")
            self.fire("post_run_cell", None)
            if self.failed is not None:
                error, self.failed = self.failed, None
                outcome.fail(error)

        def fire(self, event, *arguments):
            """Calls what the user's code has registered."""
            callbacks = self.events.callbacks[event]
            known = self.initial_events[event]
            for callback in callbacks if len(callbacks) != len(known) else ():
                if callback not in known:
                    try:
                        callback(*arguments)
                    except Exception as error:
                        display.warn(f"a callback for {event} failed: {type(error).__name__}: {error}")

        def keep(self, value):
            """VALUE is what the cell gave: Out, _ and their kin."""
            self.displayhook.update_user_ns(value)

        def may_be_magic(self, code):
            """Whether CODE means more than what Python reads in it, though it may be Python: `ls` alone, or a transformation of
            the user's own."""
            if len(self.input_transformers_post) != len(self.initial[1]) or code.startswith("In ["):
                return True
            if "\n" in code:
                return False
            word = FIRST_WORD.match(code)
            if word is None or word[1] in self.user_ns and word[1] not in self.user_ns_hidden:
                return False
            word = word[1]
            return word in ("exit", "quit") or word in self.magics_manager.magics["line"] or self.alias_manager.is_alias(word)

        def translate(self, code):
            """CODE in plain Python, with its lines where they were."""
            translated = self.transform_cell(code)
            blank = len(code) - len(code.lstrip("\n"))
            return "\n" * blank + translated

        def transformed(self, tree):
            return self.transform_ast(tree) if len(self.ast_transformers) != len(self.initial[0]) else tree

        def block(self, refusal):
            """From now on neither `!command` nor a magic starts a program; REFUSAL makes the exception for a name."""

            def refuse(*arguments, **options):
                raise refusal("subprocess")

            self.system = self.system_raw = self.system_piped = self.getoutput = refuse
            cells, scripts = self.magics_manager.magics["cell"], self.magics_manager.registry["ScriptMagics"]
            for name in ["script", *scripts.script_magics]:
                cells[name] = refuse

        def forget(self):
            """What is left of the past after reset()."""
            hook = self.displayhook
            hook._ = hook.__ = hook.___ = ""
            for name in [name for name in self.user_ns if re.fullmatch(r"_i?\d+", name)]:
                del self.user_ns[name]

    def install(name, line):
        """%pip install NAME, of what is there, is done."""
        from adder_runner import installs

        if not installs.is_met_by_what_is_there(f"{name} {line}"):
            raise UsageError(f"{NO_INSTALL} {hints.packages['advice']}")
        print("All of these are installed already.")

    def matplotlib(self, line):
        """Figures are shown by themselves, whatever is asked for."""

    def configure(self, line, original):
        owner, _, rest = line.partition(".")
        if owner.strip() != "InlineBackend":
            return original(line)
        name, _, value = rest.partition("=")
        if name.strip() in ("figure_format", "figure_formats"):
            display.vector = display.vector_always = "svg" in value
        return None

    def init_magics(self):
        InteractiveShell.init_magics(self)
        line, cells = self.magics_manager.magics["line"], self.magics_manager.magics["cell"]
        for name in INSTALLERS:
            line[name] = lambda text="", name=name: install(name, text)
        line["matplotlib"] = lambda text="": matplotlib(self, text)
        original = line["config"]
        line["config"] = lambda text="": configure(self, text, original)
        scripts = self.magics_manager.registry["ScriptMagics"]
        for name, magic in list(cells.items()):
            if getattr(magic, "__self__", None) is scripts or name in scripts.script_magics:
                cells[name] = without_thread(magic, scripts)

    Shell.init_magics = init_magics
    return Shell


def without_thread(magic, scripts):
    """MAGIC, without the thread that it would leave behind, unless what it started goes on."""

    def run(line, cell):
        import threading

        before = set(threading.enumerate())
        try:
            return magic(line, cell)
        finally:
            if scripts.event_loop is not None and not scripts.bg_processes:
                loop, scripts.event_loop = scripts.event_loop, None
                loop.call_soon_threadsafe(loop.stop)
                for thread in set(threading.enumerate()) - before:
                    thread.join(5)
                if not loop.is_running():
                    loop.close()

    return run
