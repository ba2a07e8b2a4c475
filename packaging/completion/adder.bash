# SPDX-License-Identifier: Apache-2.0
# Completion of adder for bash: the program itself says what can follow (adder complete).
_adder() {
  local typed=${COMP_LINE:0:COMP_POINT} cur=${COMP_WORDS[COMP_CWORD]} words line
  # Not COMP_WORDS, which bash splits at = and : as well.
  read -ra words <<<"$typed"
  [[ $typed == *[[:space:]] ]] && words+=('')
  [[ $cur == "=" ]] && cur=
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o default ;;
      :directories) compopt -o dirnames ;;
      "$cur"*) COMPREPLY+=("$line") && [[ $line == *= ]] && compopt -o nospace ;;
    esac
  done < <("${words[0]}" complete "${words[@]:1}" 2>/dev/null)
}
complete -F _adder adder
