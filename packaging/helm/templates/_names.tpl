{{/* Names and labels. */}}

{{- define "adder.name" -}}
{{- .Release.Name | contains "adder" | ternary .Release.Name (printf "%s-adder" .Release.Name) | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Of the ROOT's COMPONENT, by which Services and policies find its pods. */}}
{{- define "adder.selector" -}}
app.kubernetes.io/name: adder
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "adder.labels" -}}
{{ include "adder.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end -}}

{{/* Of the Service. */}}
{{- define "adder.scheme" -}}
{{- empty .Values.gateway.tlsSecret.name | ternary "http" "https" -}}
{{- end -}}

{{- define "adder.secret" -}}
{{- .Values.secret.name | default (include "adder.name" .) -}}
{{- end -}}

{{- define "adder.image" -}}
{{- required "image.repository is required: docs/server-image.md says how to build the image" .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion -}}
{{- end -}}
