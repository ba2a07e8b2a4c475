{{/* A rule for each port of the servers in URL: those of libpq and NATS may have several. Policies know addresses, not names: PEERS are
what is known of them. */}}
{{- define "adder.egress" -}}
{{- $usual := dict "postgresql" 5432 "postgres" 5432 "nats" 4222 "tls" 4222 "https" 443 "http" 80 -}}
{{- $ports := list -}}
{{- range $url := splitList " " .url -}}
{{- $scheme := regexFind "^[a-z]+" $url -}}
{{- range $host := regexReplaceAll "^[a-z]+://([^@/]*@)?([^/?]*).*$" $url "${2}" | splitList "," -}}
{{- $port := regexFind ":[0-9]+$" $host | trimPrefix ":" -}}
{{- $ports = append $ports (int ($port | default (index $usual $scheme))) -}}
{{- end -}}
{{- end -}}
- ports:
    {{- range uniq $ports }}
    - port: {{ . }}
    {{- end }}
  {{- with .peers }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
