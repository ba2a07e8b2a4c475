# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The static checks of scripts/test, but for the analysis of C (scripts/testing/analyse.py): one function each, which prints what
# is wrong and fails. They look at the files that git knows of, or at all where there is no repository (an unpacked tarball).

# tracked PATTERN...: the files whose name ends in one of the patterns, one a line.
tracked() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- "$@"
  else
    for pattern in "$@"; do
      find . \( -path './build*' -o -path './.*/*' \) -prune -o -type f -path "./$pattern" -print | sed 's|^\./||'
    done
  fi | while read -r file; do
    [ ! -f "$file" ] || echo "$file"
  done
}

shell_scripts() {
  tracked 'scripts/*' '.ci/*' 'packaging/*' | while read -r file; do
    case $file in
    *.sh) echo "$file" ;;
    *) head -n 1 -- "$file" | grep -q '^#!/bin/sh' && echo "$file" ;;
    esac
  done
}

check_format() {
  command -v clang-format-14 >/dev/null || { echo "clang-format-14 is not in this release, and others format differently"; return 77; }
  tracked '*.c' '*.h' | xargs clang-format-14 --dry-run -Werror
}

# No program that could be installed knows the switch that disables layers; the build made for it does.
check_disable_layers() {
  for directory in build build-release; do
    [ "$directory" = build ] || [ -d "$directory" ] || continue # the release is built in the deep tier alone
    for file in adder libadder.so src/runner/adder-zygote src/runner/adder-init src/runner/adder-shell src/runner/_adder.abi3.so; do
      file=$directory/$file
      [ -f "$file" ] || { echo "$file is not there"; return 1; }
      if grep -aq ADDER_DISABLE_LAYERS "$file"; then
        echo "$file holds ADDER_DISABLE_LAYERS"
        return 1
      fi
    done
  done
  grep -aq ADDER_DISABLE_LAYERS build-mutation/adder || { echo "build-mutation/adder lacks it: is it still called so?"; return 1; }
}

# What CONTRIBUTING.md bans, in code; comments and strings may name them.
check_banned() {
  banned='sprintf|vsprintf|strcpy|strcat|strncat|strtok|atoi|atol|atof|strtol|strtoul|strtoll|strtoull|system|popen|tmpnam|tempnam|mktemp|gets|alloca|assert'
  tracked 'src/*.c' 'src/*.h' 'include/*.h' 'examples/*.c' | while read -r file; do
    # Comments out, strings empty, lines kept.
    gcc -fpreprocessed -dD -E -P -x c "$file" 2>/dev/null | sed 's/"\([^"\\]\|\\.\)*"/""/g' |
      grep -nE "(^|[^A-Za-z0-9_.>])($banned) *\(" | sed "s|^|$file: |"
  done | grep . && return 1
  return 0
}

# A module includes from itself and from those below it; scripts/testing/layers.py has their order.
check_layers() {
  /usr/bin/python3 -I scripts/testing/layers.py
}

check_licence() {
  tracked '*.c' '*.h' '*.py' '*.sh' '*.ts' 'meson.build' '*/meson.build' | while read -r file; do
    head -n 3 -- "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "$file: no SPDX line"
  done | grep . && return 1
  return 0
}

check_shell() {
  # shellcheck disable=SC2046 # names without spaces
  shellcheck -x $(shell_scripts) && for file in $(shell_scripts); do dash -n "$file" || return 1; done
}

check_python() {
  tracked '*.py' | xargs /usr/bin/python3 -I -W error -c '
import sys
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        compile(file.read(), path, "exec", dont_inherit=True)'
}

# Made from the tables of keys in the source: those in docs/ must be the same.
check_configuration_page() {
  build/adder config document | diff -u docs/configuration.md - ||
    { echo "docs/configuration.md is not current: build/adder config document >docs/configuration.md"; return 1; }
  build/adder profile document | diff -u docs/profile-keys.md - ||
    { echo "docs/profile-keys.md is not current: build/adder profile document >docs/profile-keys.md"; return 1; }
}

# Made from the tables of tools and of operations.
check_toolsets_page() {
  build/adder tool list --format markdown | diff -u docs/toolsets.md - ||
    { echo "docs/toolsets.md is not current: build/adder tool list --format markdown >docs/toolsets.md"; return 1; }
  build/adder tool list --format operations | diff -u docs/operations.md - ||
    { echo "docs/operations.md is not current: build/adder tool list --format operations >docs/operations.md"; return 1; }
}

check_manual() {
  mandoc -T lint -W warning docs/adder.1 && /usr/bin/python3 -I scripts/testing/manual.py
}

check_http_routes() {
  /usr/bin/python3 -I scripts/testing/http_routes.py
}

# Made by the tests that ran: a stage of its own after them.
check_clients_page() {
  /usr/bin/python3 -I scripts/testing/clients_page.py
}

# Made from the rows of operations.
check_python_client() {
  build/adder serve --openapi | /usr/bin/python3 -I clients/python/make_models.py --check
}

# Likewise.
check_typescript_client() {
  build/adder serve --openapi | /usr/bin/python3 -I clients/typescript/make_types.py --check
}

# The types of the web interface, which bundling does not look at.
check_web() {
  web_tools
  [ -e web/node_modules ] || ln -s ../build/web-packages/node_modules web/node_modules
  build/node/bin/node web/node_modules/typescript/bin/tsc -p web
}

# Each source of a folder of src/ is named in the README there, or in that of the folder above: as a file (`run.c`), without its
# ending (`mounts`), or by a pattern that has one (`proxy_*.c`).
check_readmes() {
  # shellcheck disable=SC2016 # the backticks are Markdown's
  tracked 'src/*.c' 'src/*.py' | while read -r file; do
    readme=$(dirname -- "$file")/README.md
    name=$(basename -- "$file")
    [ -f "$readme" ] || readme=$(dirname -- "$(dirname -- "$file")")/README.md
    grep -oE '`[^` ]+`' -- "$readme" | tr -d '`' | {
      while read -r named; do
        case $named in *.c | *.py) ;; *[*?[]*) continue ;; *) named=$named.${name##*.} ;; esac
        # shellcheck disable=SC2254 # a pattern is meant
        case $name in $named) exit 0 ;; esac
      done
      exit 1
    } || echo "$readme does not name $name"
  done | grep . && return 1
  return 0
}

check_columns() {
  tracked '*.md' | xargs /usr/bin/python3 -I scripts/testing/columns.py
}

# Relative links between pages lead somewhere.
check_links() {
  tracked '*.md' | while read -r page; do
    grep -oE '\]\([^)#: ]+' -- "$page" | sed 's/^](//' | grep -vE '^(https?|mailto)$' | while read -r target; do
      [ -e "$(dirname -- "$page")/$target" ] || echo "$page: $target does not exist"
    done
  done | grep . && return 1
  return 0
}

# The documentation's site builds: no link is dead, no page is missing in its navigation, none asks others for something.
check_site() {
  scripts/docs
}

# No document, help text or message uses a phrase that docs/prose/vocabulary.yml lists. The two lists of what was and what is promised
# are left out.
check_prose() {
  /usr/bin/python3 -I docs/prose/gather.py build/adder build/prose || return 1
  # shellcheck disable=SC2046 # names without spaces
  (top=$(pwd) && cd build/prose-packages &&
    PATH="$top/build/node/bin:$PATH" node node_modules/textlint/bin/textlint.js --config "$top/docs/prose/textlintrc.json" --format unix \
      "$top/build/prose" $(cd "$top" && tracked '*.md' | grep -vE '^(CHANGES|tests/PROMISES)\.md$' | sed "s|^|$top/|"))
}

# What the tools of MCP cost a model is what docs/mcp.md says. --write puts it in.
check_tokens() {
  # One description says which Python and which packages there are.
  case $(environment_field science version) in
  3.11.*) ;;
  *) say "The page has the tokens of descriptions with CPython 3.11" && return ;;
  esac
  # An engine of its own, since the user's daemon may have other settings.
  own=$(mktemp -d)
  ADDER_RUNTIME_DIR="$own" ADDER_STATE_DIR="$own" ADDER_CONFIG_DIR="$own" NODE_PATH=build/prose-packages/node_modules \
    build/node/bin/node docs/prose/tokens.cjs build/adder "$@" && rm -rf -- "$own"
}

# All files that have the version of the release have the same.
check_versions() {
  /usr/bin/python3 -I scripts/releasing/versions.py
}

# What hosts of the project read is what their schemas allow.
check_project_files() {
  while read -r name files; do
    # shellcheck disable=SC2086 # several files, and options
    build/release-tools/bin/check-jsonschema --builtin-schema "vendor.$name" $files || return 1
  done <<'FILES'
github-workflows .github/workflows/test.yml .github/workflows/release.yml .github/workflows/pins.yml
github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/wish.yml
github-issue-config .github/ISSUE_TEMPLATE/config.yml
gitlab-ci --data-transform gitlab-ci .gitlab-ci.yml
renovate renovate.json
FILES
  cmp .github/pull_request_template.md .gitlab/merge_request_templates/Default.md
}

# Each test that tests/PROMISES.md names is there: FILE::FUNCTION in Python, FILE::PATH in C, where tables may hold the end of a
# path alone.
check_promises() {
  # shellcheck disable=SC2016 # the backticks are Markdown's
  grep -oE '`[a-z0-9_./]+\.(py|c)(::[^` ]+)?`' tests/PROMISES.md | tr -d '`' | sort -u | while read -r named; do
    file=tests/${named%%::*} name=${named#*::}
    case $named in
      *.py::*) grep -qsE "^(async )?def $name\\(" -- "$file" ;;
      *::*) grep -qsF -e "\"$name\"" -e "\"${name##*/}\"" -- "$file" ;;
      *) [ -f "$file" ] ;;
    esac || echo "tests/PROMISES.md: $named does not exist"
  done | grep . && return 1
  return 0
}

# The first command of the README, and those that it says to type next, with a daemon, a store and a folder of programs of its own.
check_quickstart() {
  (
    own=$(mktemp -d)
    export ADDER_RUNTIME_DIR="$own" ADDER_STATE_DIR="$own/state" XDG_BIN_HOME="$own/bin" PATH="$own/bin:$PATH"
    trap 'build/adder serve stop; rm -rf -- "$own"' EXIT
    {
      scripts/quickstart >"$own/said" 2>&1 && sed '1,/^Next, from/d' "$own/said" >"$own/next" &&
        [ "$(grep -c '^  adder ' "$own/next")" -eq 3 ] && sh -eux "$own/next" >"$own/typed" 2>&1
    } || { cat -- "$own/said" "$own/typed"; exit 1; }
  )
}
