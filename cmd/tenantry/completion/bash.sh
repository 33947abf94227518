# Completes the commands and flags of tenantry in bash: eval "$(tenantry completion bash)"
_tenantry() {
    local IFS=$'\n'
    COMPREPLY=($("$1" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _tenantry tenantry
