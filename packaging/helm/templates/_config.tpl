{{/* adder.conf of a component: the chart's own settings, then those of all daemons, then those of the component. */}}

{{- define "adder.nats" -}}
{{- if .Values.nats.enabled -}}
{{- empty .Values.nats.tlsSecret.name | ternary "nats" "tls" }}://{{ include "adder.name" . }}-nats:4222
{{- else -}}
{{- required "nats.url is required without nats.enabled" .Values.nats.url -}}
{{- end -}}
{{- end -}}

{{/* Without the name of the Service, a request that names it is refused, as one that a browser was tricked into. */}}
{{- define "adder.hosts" -}}
{{- $service := include "adder.name" . -}}
{{- $within := printf "%s.%s" $service .Release.Namespace -}}
{{- $names := list $service $within (printf "%s.svc" $within) (printf "%s.svc.cluster.local" $within) -}}
{{- if .Values.gateway.ingress.enabled -}}
{{- $names = append $names (required "gateway.ingress.host is required" .Values.gateway.ingress.host) -}}
{{- end -}}
{{- concat $names .Values.gateway.hosts | uniq | join " " -}}
{{- end -}}

{{- define "adder.config" -}}
{{- $values := .root.Values -}}
{{- $gateway := eq .component "gateway" -}}
{{- $http := dict "token_file" "/run/secrets/adder/token" "hosts" (include "adder.hosts" .root) -}}
{{- if and $gateway $values.gateway.tlsSecret.name -}}
{{- $_ := merge $http (dict "certificate" "/run/secrets/tls/tls.crt" "key" "/run/secrets/tls/tls.key") -}}
{{- end -}}
{{- $cluster := dict "nats" (include "adder.nats" .root) "secret_file" "/run/secrets/adder/cluster" "gateway" $gateway "drain_ms" (printf "%ds" (int $values.drainSeconds)) -}}
{{- if $values.nats.tlsSecret.name -}}
{{- range $key, $file := dict "ca" "ca.crt" "certificate" "tls.crt" "key" "tls.key" -}}
{{- $_ := set $cluster $key (printf "/run/secrets/nats-tls/%s" $file) -}}
{{- end -}}
{{- end -}}
{{- if $values.nats.credentialsSecret.name -}}
{{- $_ := set $cluster "credentials" "/run/secrets/nats/nats.creds" -}}
{{- end -}}
{{- $store := dict "records" (required "postgresql.url is required" $values.postgresql.url) "blobs" (required "s3.url is required" $values.s3.url) -}}
{{- with $values.gateway.ingress -}}
{{- if .enabled -}}
{{- $_ := set $store "url" (printf "%s://%s" (empty .tlsSecret.name | ternary "http" "https") .host) -}}
{{- end -}}
{{- end -}}
{{- $settings := dict "http" $http "cluster" $cluster "store" $store -}}
{{- if not $gateway -}}
{{- $_ := merge $settings (dict "pool" (dict "max_running" $values.nodes.maxRunning) "sandbox" (dict "min_isolation" $values.nodes.isolation)) -}}
{{- end -}}
{{- $more := $gateway | ternary $values.gateway.config $values.nodes.config -}}
{{- $settings = mergeOverwrite $settings (deepCopy $values.config) (deepCopy $more) -}}
{{- range $section := keys $settings | sortAlpha }}
[{{ $section }}]
{{- $rows := index $settings $section }}
{{- range $key := keys $rows | sortAlpha }}
{{- $value := index $rows $key }}
{{ $key }} = {{ if kindIs "float64" $value }}{{ int64 $value }}{{ else }}{{ $value }}{{ end }}
{{- end }}
{{ end }}
{{- end -}}
