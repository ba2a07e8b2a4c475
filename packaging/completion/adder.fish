# SPDX-License-Identifier: Apache-2.0
# Completion of adder for fish.
set -l commands run serve status stop doctor env profile config bench

complete -c adder -f
complete -c adder -n "not __fish_seen_subcommand_from $commands" -l version -d 'Print the version'
complete -c adder -n "not __fish_seen_subcommand_from $commands" -a run -d 'Run Python in a fresh sandbox'
complete -c adder -n "not __fish_seen_subcommand_from $commands" -a serve -d 'Answer on the local socket'
complete -c adder -n "not __fish_seen_subcommand_from $commands" -a status -d 'Show what the daemon holds'
complete -c adder -n "not __fish_seen_subcommand_from $commands" -a stop -d 'End the daemon'
complete -c adder -n "not __fish_seen_subcommand_from $commands" -a doctor -d 'Check what this host offers'
complete -c adder -n "not __fish_seen_subcommand_from $commands" -a env -d 'Environments'
complete -c adder -n "not __fish_seen_subcommand_from $commands" -a profile -d 'Sets of limits'
complete -c adder -n "not __fish_seen_subcommand_from $commands" -a config -d 'The configuration'
complete -c adder -n "not __fish_seen_subcommand_from $commands" -a bench -d 'Measure Adder beside plain Python'

set -l run '__fish_seen_subcommand_from run'
complete -c adder -n $run -F
complete -c adder -n $run -s c -l code -x -d 'Run CODE'
complete -c adder -n $run -s f -l file -r -F -d 'Put a file into the current directory of the code'
complete -c adder -n $run -s o -l out -x -a '(__fish_complete_directories)' -d 'Write the files that the code made'
complete -c adder -n $run -s e -l env -x -a '(adder env list --names 2>/dev/null)' -d 'Environment to run in'
complete -c adder -n $run -s p -l profile -x -a '(adder profile list --names 2>/dev/null)' -d 'Set of limits'
complete -c adder -n $run -s t -l timeout -x -d 'Wall clock limit'
complete -c adder -n $run -s m -l memory -x -d 'Memory limit'
complete -c adder -n $run -l isolation -x -a 'auto namespaces process none' -d 'Kind of sandbox'
complete -c adder -n $run -s l -l limit -x -a "(adder profile show 2>/dev/null | sed -n '1,/^limit /!s/ .*/=/p')" -d 'Any limit'
complete -c adder -n $run -l stdin -r -F -d 'Standard input of the code'
complete -c adder -n $run -l set-env -x -d 'Environment variable of the code'
complete -c adder -n $run -l json -d 'Print the result as one JSON object'
complete -c adder -n $run -l no-daemon -d 'Run in this process'
complete -c adder -n $run -l conversation -x -d 'Conversation that the run belongs to'

set -l serve '__fish_seen_subcommand_from serve'
complete -c adder -n $serve -l socket -r -F -d 'Socket to answer on'
complete -c adder -n $serve -l background -d 'Return when the daemon listens'
complete -c adder -n $serve -l idle-exit -x -d 'End after so long without a connection'

complete -c adder -n '__fish_seen_subcommand_from status doctor bench env profile config' -l json -d 'Print JSON'
complete -c adder -n '__fish_seen_subcommand_from doctor' -l policy -d 'Print which system calls a sandbox may make'

complete -c adder -n '__fish_seen_subcommand_from env' -a 'list show create remove'
complete -c adder -n '__fish_seen_subcommand_from show remove' -a '(adder env list --names 2>/dev/null)'
complete -c adder -n '__fish_seen_subcommand_from create' -l python -r -F -d Interpreter
complete -c adder -n '__fish_seen_subcommand_from create' -s r -l requirements -r -F -d 'Packages to install'
complete -c adder -n '__fish_seen_subcommand_from create' -l module -x -d 'Module to load ahead'
complete -c adder -n '__fish_seen_subcommand_from profile' -a 'list show'
complete -c adder -n '__fish_seen_subcommand_from config' -a 'show document'

set -l bench '__fish_seen_subcommand_from bench'
complete -c adder -n $bench -s e -l env -x -a '(adder env list --names 2>/dev/null)' -d Environment
complete -c adder -n $bench -l only -x -d 'Only this measure'
complete -c adder -n $bench -l list -d 'Print the names of the measures'
complete -c adder -n $bench -s n -l rounds -x -d 'Rounds of each latency measure'
complete -c adder -n $bench -s s -l seconds -x -d 'Length of a throughput measure'
complete -c adder -n $bench -a load -d 'Ask with many clients at once'
complete -c adder -n $bench -s c -l clients -x -d 'Clients at once'
complete -c adder -n $bench -l code -x -d 'What each run of the load executes'
complete -c adder -n $bench -s p -l profile -x -a '(adder profile list --names 2>/dev/null)' -d 'Set of limits of the load'
complete -c adder -n $bench -l flood -d 'One of two owners floods'
complete -c adder -n $bench -l no-daemon -d 'Ask an engine in this process'
complete -c adder -n $bench -l quick -d 'Fewer rounds'
complete -c adder -n $bench -l check -d 'Exit with 1 when a goal was missed'
complete -c adder -n $bench -s o -l output -r -F -d 'Write the JSON to a file as well'
