# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Other hosts that scripts/test runs on: another release of Debian, a kernel with control groups v2, other interpreters. Sourced
# after scripts/common.sh. All of it is below build/hosts, and kept for the next time.

# copy_checkout DIRECTORY: a clone of this checkout there, on a branch `tested`, with what is changed in it and not committed.
copy_checkout() {
  changed=$(git -c user.name=tests -c user.email=tests@localhost stash create)
  [ -d "$1/.git" ] || git init -q "$1"
  git -C "$1" checkout -q --detach 2>/dev/null || true # the first time there is nothing yet
  git push -q --force "$(pwd)/$1" "${changed:-HEAD}:refs/heads/tested"
  git -C "$1" checkout -q --force tested
}

# A skipped stage: the last line of its log says why.
skip() {
  say "$*"
  exit 77
}

# in_root DIRECTORY COMMAND...: runs it there as root, with the cache of compilations of this host.
in_root() {
  root=$1
  shift
  mkdir -p -- "$CCACHE_DIR"
  scripts/debian-root run --bind "$CCACHE_DIR" /root/.cache/adder-ccache "$root" "$@"
}

# ---- another release ----

# on_release SUITE [OPTION]: scripts/test there, in a root that has nothing but what that installs. Its results are in
# build/test-results-SUITE.
on_release() {
  suite=$1
  root=build/hosts/$suite-bare
  shift
  [ "$(id -u)" -eq 0 ] || die "scripts/test --on needs root."
  command -v debootstrap >/dev/null || install_packages test
  mkdir -p -- build/hosts
  [ -d "$root" ] || { say "Making a bare Debian, $suite" && scripts/debian-root make "$suite" "$root" git; }
  copy_checkout "$root/srv/adder"
  status=0
  in_root "$root" /srv/adder/scripts/test "$@" || status=$?
  rm -rf -- "build/test-results-$suite"
  cp -a -- "$root/srv/adder/build/test-results" "build/test-results-$suite" || true
  return $status
}

# ---- control groups v2 ----

# bootable_host SUITE: a Debian that can be booted, with this checkout built and installed.
bootable_host() {
  [ "$(id -u)" -eq 0 ] || skip "making a host to boot needs root"
  install_packages machine
  root=build/hosts/$1
  packages=$(awk '$1 == "build" || $1 == "guest" { print $2 }' scripts/packages)
  if [ "$(cat "$root.packages" 2>/dev/null)" != "$packages" ]; then
    say "Making a host to boot, $1 (some 300 MB are fetched)"
    mkdir -p -- build/hosts
    scripts/debian-root make "$1" "$root"
    # shellcheck disable=SC2086 # the list is words
    in_root "$root" env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends $packages >"$root.log" 2>&1 ||
      die "apt-get could not install what a host needs; $root.log has all of it"
    printf '%s\n' "$packages" >"$root.packages"
  fi
  copy_checkout "$root/srv/adder"
  in_root "$root" sh -euc \
    'cd /srv/adder; . scripts/common.sh; build build -Dweb=false -Dtests=none; meson install -C build --no-rebuild --quiet; ldconfig'
}

# cgroup2 SUITE: there, what tests/hosts has, and end-to-end tests of limits as root. The results are cgroup2-SUITE.xml of
# build/test-results.
cgroup2() {
  bootable_host "$1"
  status=0
  scripts/debian-root boot --results /var/results "build/hosts/$1-results" "build/hosts/$1" "
    cd /srv/adder
    mkdir -p /var/results
    /usr/bin/python3 -m pytest -v --color=no -p no:cacheprovider --junitxml=/var/results/cgroup2-$1.xml \\
      tests/hosts tests/e2e/test_limits.py tests/e2e/test_session_branches.py -m quick" || status=$?
  cp -- "build/hosts/$1-results/results/cgroup2-$1.xml" build/test-results/
  return $status
}

# ---- other interpreters ----

# python_program VERSION: an interpreter, on PATH or of pyenv, as tests/clients finds it.
python_program() {
  for program in "$(command -v "python$1")" "${PYENV_ROOT-$HOME/.pyenv}"/versions/"$1".*/bin/python3; do
    [ "$("$program" -I -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" != "$1" ] || { echo "$program" && return; }
  done
  return 1
}

# build_free_threaded: CPython without its lock, which no Debian has, built of the source of python3.13.
build_free_threaded() {
  directory=$(pwd)/build/hosts/python-3.13t
  [ ! -x "$directory/bin/python3.13t" ] || return 0
  rm -rf -- "$directory"
  say "Building a free-threaded CPython (some 25 MB are fetched)"
  scripts/debian-root source trixie "$directory" python3.13
  { (cd "$directory/source" && ./configure --disable-gil --prefix="$directory" && make -j 2 && make install) >"$directory/build.log" 2>&1 &&
    rm -rf -- "$directory/source"; } || die "CPython could not be built; $directory/build.log has all of it"
}

# with_open_home COMMAND...: where every user can enter HOME, which has interpreters and is otherwise root's alone.
with_open_home() {
  # shellcheck disable=SC2016 # the dollars are for the other shell
  unshare --mount sh -euc '
    home=$(pwd)/build/hosts/home
    for folder in .pyenv .cache; do
      mkdir -p "$home/$folder" "$HOME/$folder"
      mount --bind "$HOME/$folder" "$home/$folder"
    done
    mount --rbind "$home" "$HOME"
    exec "$@"' sh "$@"
}

# python_environment VERSION: science with that interpreter, in build/hosts/python-VERSION.
python_environment() {
  program=$(python_program "$1") || skip "no CPython $1 on this machine: no python$1 on PATH, none of pyenv"
  pins=environments/science/requirements.txt options=''
  if [ -f "tests/pythons/science-$1.txt" ]; then # it is too old for those
    pins=tests/pythons/science-$1.txt
    options="--requirements $pins --module numpy --module pandas --module matplotlib.pyplot"
  fi
  ! cmp -s "$pins" "build/hosts/python-$1/pins" || return 0
  rm -rf -- "build/hosts/python-$1"
  mkdir -p -- "build/hosts/python-$1"
  # shellcheck disable=SC2086 # the options are words
  ADDER_ENVIRONMENTS_DIR=$(pwd)/build/hosts/python-$1 build/adder env new science --python "$program" $options
  cp -- "$pins" "build/hosts/python-$1/pins"
}

# python_tests VERSION COMMAND...: runs it with that environment.
python_tests() {
  version=$1
  shift
  python_environment "$version"
  # shellcheck disable=SC2016 # the dollars are for the other shell
  ADDER_ENVIRONMENTS_DIR=$(pwd)/build/hosts/python-$version with_open_home sh -euc '
    build/adder env show science >&2 # without it, tests would take another interpreter
    exec "$@"' sh "$@"
}

# free_threaded COMMAND...: runs it with the interpreter that Adder refuses.
free_threaded() {
  build_free_threaded
  ADDER_FREE_THREADED=$(pwd)/build/hosts/python-3.13t/bin/python3.13t "$@"
}
