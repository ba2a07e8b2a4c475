# SPDX-License-Identifier: Apache-2.0
# Completion of adder for bash.
_adder_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

_adder_limits() {
  adder profile show 2>/dev/null | sed -n '1,/^limit /!s/ .*/=/p'
}

_adder_sessions() {
  _adder_words "$(adder session list --names 2>/dev/null)"
}

_adder_tools() {
  _adder_words "$(adder tools 2>/dev/null | sed 's/^\([^ ]*\)  *\([^ ]*\) .*/\1.\2/')"
}

_adder_models() {
  _adder_words "$(adder model list --names 2>/dev/null)"
}

_adder_value() {
  if [[ $command =~ ^(agent|chat)$ ]]; then
    case $prev in
      --tool | --transcript | --record) compopt -o default; return ;;
      --steps) _adder_words "typed native"; return ;;
      -m | --model) _adder_models; return ;;
      --max-steps | --max-tokens | --max-time | --max-cost) return ;;
    esac
  fi
  if [[ $command == search ]]; then
    case $prev in
      -p | --providers) _adder_words "$(adder search providers --names 2>/dev/null)"; return ;;
      -e | --elements | -f | --formula | --nsites | --filter | -n | --limit | -t | --timeout) return ;;
    esac
  fi
  if [[ $command == ask ]]; then
    case $prev in
      -c | --code | -x | --expect | --record) compopt -o default; return ;;
      -f | --file) compopt -o nospace; return ;;
      --again | -o | --out) compopt -o dirnames; return ;;
      --tests) _adder_words "none given proposed"; return ;;
      -m | --model) _adder_models; return ;;
      --encoding) _adder_words "utf-8 utf-16 latin-1 cp1252"; return ;;
      --cpu | --delimiter | --quote | --decimal | --thousands) return ;;
    esac
  fi
  case $prev in
    -s | --seconds) [[ $command == run ]] && _adder_sessions ;;
    --session) _adder_sessions ;;
    -e | --env) _adder_words "$(adder env list --names 2>/dev/null)" ;;
    -p | --profile) _adder_words "$(adder profile list --names 2>/dev/null)" ;;
    --provider) _adder_words "openai anthropic ollama llama.cpp vllm" ;;
    --dialect) _adder_words "chat responses messages" ;;
    --key-file | --unix-socket | --ca-file) compopt -o default ;;
    --model) [[ $command == model ]] || _adder_models ;;
    --key-env | --base-url | --proxy | --context-tokens | --output-tokens | --idle | --connect | --retries | --answer-bytes | --input-price | --output-price | --cached-price) ;;
    --role) _adder_words "guest user admin" ;;
    --toolset) _adder_words "$(adder tools 2>/dev/null | cut -d ' ' -f 1 | sort -u)" ;;
    --format) if [[ $command == record ]]; then _adder_words "jsonl csv"; elif [[ $command =~ ^(result|data)$ ]]; then _adder_words "csv parquet json"; else _adder_words "list mcp openai anthropic markdown operations"; fi ;;
    --stream) _adder_words "stdout stderr" ;;
    --offset | --grep) ;;
    --outcome) _adder_words "ok error refused approval_required timeout cpu_limit memory_limit output_limit crashed cancelled busy failed" ;;
    --since | --until | --tool | --front-end | --node | --owner | --head) ;;
    --tables) _adder_words "csv parquet json none" ;;
    --isolation) _adder_words "auto namespaces process container none" ;;
    --run) ;;
    -l | --limit)
      [[ $command =~ ^(result|file)$ ]] && return
      compopt -o nospace
      _adder_words "$(_adder_limits)"
      ;;
    -o | --out | -w | --workdir) if [[ $command =~ ^(record|result|file|data)$ ]]; then compopt -o default; else compopt -o dirnames; fi ;;
    -f | --file | --stdin | --analysis | --python | -r | --requirements | --socket) compopt -o default ;;
    -c | --code | -t | --timeout | -m | --memory | --set-env | --value | --conversation | --description | --approval | --wait-approval | --reason | --idle-exit | --module) ;;
    --client) _adder_words "claude-desktop claude-code vscode cursor codex" ;;
    --scope) _adder_words "user project" ;;
    --url) ;;
    --only | -n | --name | --rounds) ;;
    *) return 1 ;;
  esac
}

_adder_sub() {
  case $1 in
    env) _adder_words "list show create remove" ;;
    container) _adder_words "build list show remove" ;;
    model) _adder_words "add list show check remove default" ;;
    token) _adder_words "create list show rotate revoke" ;;
    profile) _adder_words "list show check document" ;;
    config) _adder_words "show document" ;;
    bench) _adder_words "load" ;;
    tools) _adder_words "enable disable" ;;
    review) _adder_words "list show commit finish undo drop" ;;
    record) _adder_words "list show stats export verify" ;;
    result) _adder_words "peek show export" ;;
    data) _adder_words "collect list show head export import remove" ;;
    file) _adder_words "list put get show rm" ;;
    store) _adder_words "show check" ;;
    call) _adder_tools ;;
    mcp) _adder_words "install" ;;
    search) _adder_words "providers" ;;
    approval) _adder_words "list show approve deny" ;;
    session) _adder_words "new list show vars history reset interrupt replay checkpoint rollback forget branch end" ;;
  esac
}

_adder_options() {
  case $1 in
    run) echo "-c --code -f --file -o --out --force -w --workdir --review -s --session --no-wait --svg --tables -e --env -p --profile -t --timeout -m --memory -l --limit
      --stdin --set-env --value --analysis --isolation --role --json --no-daemon --conversation --description --approval --wait-approval --dangerously-accept-all --help" ;;
    approval) echo "--json --always --reason --help" ;;
    session) _adder_session_options "${COMP_WORDS[2]}" ;;
    review) echo "--json --help" ;;
    record) _adder_record_options "${COMP_WORDS[2]}" ;;
    result)
      case ${COMP_WORDS[2]} in
        peek) echo "--offset --limit --stream --grep --owner --json --no-daemon --help" ;;
        export) echo "-t --table --format -o --out --force -e --env --owner --json --no-daemon --help" ;;
        *) echo "--owner --no-daemon --help" ;;
      esac ;;
    data) _adder_data_options "${COMP_WORDS[2]}" ;;
    file) _adder_file_options "${COMP_WORDS[2]}" ;;
    store) if [[ ${COMP_WORDS[2]} == check ]]; then echo "--deep --force --json --no-daemon --help"; else echo "--json --no-daemon --help"; fi ;;
    tools) echo "--toolset --format --prompt --role --read-only --help" ;;
    chat) echo "--toolset --tool -m --model --max-steps --max-tokens --max-time --max-cost -c --conversation --role --read-only --out --transcript --record
      --wait-approval --dangerously-accept-all --json --no-daemon --help" ;;
    agent) echo "--toolset --tool -m --model --steps --max-steps --max-tokens --max-time --max-cost -c --conversation --role --read-only --out --transcript --record
      --wait-approval --dangerously-accept-all --json --no-daemon --help" ;;
    ask) echo "-m --model -c --code -f --file -x --expect --tests -o --out --again --explain --memory --cpu -t --timeout -l --limit -e --env --isolation --role
      --delimiter --quote --encoding --no-header --decimal --thousands --day-first --table --record --json --no-daemon --help" ;;
    search)
      if [[ ${COMP_WORDS[2]} == providers ]]; then echo "--refresh --names --json --no-daemon --help"
      else echo "-e --elements -f --formula --nsites --filter -p --providers -n --limit -t --timeout --raw --explain -a --all --json --no-daemon --help"; fi ;;
    call) echo "--toolset -c --conversation --role --read-only --approval --wait-approval --dangerously-accept-all --no-daemon --help" ;;
    mcp)
      if [[ ${COMP_WORDS[2]} == install ]]; then echo "--client --scope --toolset --url --name --print --help"
      else echo "--toolset -c --conversation --role --read-only --no-daemon --help"; fi ;;
    stop) echo "--force --help" ;;
    serve) echo "--socket --background --idle-exit --http --help" ;;
    status) echo "--json --help" ;;
    doctor) echo "--policy --json --help" ;;
    bench) echo "--env --only --list --rounds --seconds --quick --check --clients --profile --code --flood --no-daemon --json --output --help" ;;
    env) echo "--json --names --python --requirements --module --help" ;;
    container) echo "--base -n --name --fresh --cached --json --names --help" ;;
    profile) echo "--json --names --help" ;;
    model)
      if [[ ${COMP_WORDS[2]} == add ]]; then
        echo "--provider --dialect --base-url --model --key-env --key-file --key-stdin --sees --no-stream --context-tokens --output-tokens
          --timeout --idle --connect --retries --answer-bytes --input-price --output-price --cached-price --unix-socket --proxy --ca-file
          --replace --default --json --help"
      else echo "--names --json --help"; fi ;;
    token) echo "--role --toolset --profiles --roots --read-only --may-decide --rate --concurrent --expires --names --json --help" ;;
    guard) echo "-c --code -e --env -p --profile --value --json --no-daemon --help" ;;
    config) echo "--json --help" ;;
    *) echo "--help" ;;
  esac
}

_adder_data_options() {
  case $1 in
    collect) echo "--name -e --elements -f --formula --nsites --filter -p --providers -n --limit -t --timeout --raw --keep-versions --json --no-daemon --help" ;;
    list) echo "-a --versions --json --no-daemon --help" ;;
    show) echo "--json --no-daemon --help" ;;
    head) echo "-n --rows --json --no-daemon --help" ;;
    export) echo "--format -o --out -f --force --no-daemon --help" ;;
    import) echo "--name --table --keep-versions --json --no-daemon --help" ;;
    *) echo "--no-daemon --help" ;;
  esac
}

_adder_file_options() {
  case $1 in
    list) echo "--run --name --conversation -s --session --outputs -n --limit -a --all --owner --json --no-daemon --help" ;;
    put) echo "--name --conversation --owner --json --no-daemon --help" ;;
    get) echo "-o --out --force --owner --no-daemon --help" ;;
    show) echo "--owner --json --no-daemon --help" ;;
    *) echo "--owner --no-daemon --help" ;;
  esac
}

_adder_record_options() {
  local filters="--since --until --outcome --tool -p --profile -e --env -s --session --conversation --front-end --node -c --code"
  case $1 in
    list) echo "$filters --owner -n --limit -a --all --json --no-daemon --help" ;;
    stats) echo "$filters --owner --json --no-daemon --help" ;;
    export) echo "$filters --owner --format -o --out --no-daemon --help" ;;
    verify) echo "--head --json --no-daemon --help" ;;
    *) echo "--owner --json --no-daemon --help" ;;
  esac
}

_adder_session_options() {
  case $1 in
    new) echo "-n --name -f --file --tables -e --env -p --profile -t --timeout -m --memory -l --limit --set-env --isolation --role --json
      --help" ;;
    list) echo "--json --names --help" ;;
    replay) echo "--from -k --keep-going -n --name -f --file --tables -e --env -p --profile -t --timeout -m --memory -l --limit --set-env
      --isolation --role --json --help" ;;
    branch) echo "-n --count --from --json --help" ;;
    *) echo "--json --help" ;;
  esac
}

_adder() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _adder_words "run agent chat telegram ask session approval review record result data file store search tools call mcp serve status stop doctor env container profile model token guard config bench --help --version"
    return
  fi
  _adder_value && return
  if [[ $cur == -* ]]; then
    _adder_words "$(_adder_options "$command")$([[ $command =~ ^(run|session|call|approval|review|record|result|file|guard)$ ]] && echo " --url")"
  elif ((COMP_CWORD == 2)) && [[ $command =~ ^(env|container|profile|model|token|config|session|approval|review|record|result|data|file|store|bench|search|tools|call|mcp)$ ]]; then
    _adder_sub "$command"
  elif ((COMP_CWORD == 3)) && [[ $command == env ]]; then
    _adder_words "$(adder env list --names 2>/dev/null)"
  elif ((COMP_CWORD == 3)) && [[ $command == container ]]; then
    _adder_words "$(adder container list --names 2>/dev/null)"
  elif ((COMP_CWORD >= 3)) && [[ $command == model && ${COMP_WORDS[2]} =~ ^(show|check|remove|default)$ ]]; then
    _adder_models
  elif ((COMP_CWORD == 3)) && [[ $command == tools ]]; then
    _adder_tools
  elif ((COMP_CWORD == 3)) && [[ $command == profile && ${COMP_WORDS[2]} == check ]]; then
    compopt -o default
  elif ((COMP_CWORD == 3)) && [[ $command == profile ]]; then
    _adder_words "$(adder profile list --names 2>/dev/null)"
  elif ((COMP_CWORD == 3)) && [[ $command == session && ! ${COMP_WORDS[2]} =~ ^(new|list)$ ]]; then
    _adder_sessions
  elif [[ $command == session && ${COMP_WORDS[2]} == end ]]; then
    _adder_sessions
  elif [[ $command == run || ($command == file && ${COMP_WORDS[2]} == put) || ($command == data && ${COMP_WORDS[2]} == import) ]]; then
    compopt -o default
  fi
}
complete -F _adder adder
