{{/* What the pods of gateways and nodes have in common. */}}

{{/* After the drain, requests that are still open have 15 seconds; before it, a gateway waits for 5. */}}
{{- define "adder.grace" -}}
{{- add 30 (int .Values.drainSeconds) -}}
{{- end -}}

{{- define "adder.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
{{- end -}}

{{/* The rights of any pod: what the standard "restricted" allows. */}}
{{- define "adder.restricted" -}}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities: {drop: [ALL]}
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{/* What sandboxes are made with, docs/kubernetes.md has the reasons. */}}
{{- define "adder.nodeSecurity" -}}
{{- if eq (int .Values.nodes.isolation) 1 -}}
{{ include "adder.restricted" . }}
{{- else -}}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities: {drop: [ALL]}
procMount: Unmasked
seccompProfile: {type: Localhost, localhostProfile: {{ .Values.nodes.seccompProfile }}}
{{- if eq .Values.nodes.appArmorProfile "Unconfined" }}
appArmorProfile: {type: Unconfined}
{{- else }}
appArmorProfile: {type: Localhost, localhostProfile: {{ .Values.nodes.appArmorProfile }}}
{{- end }}
{{- end -}}
{{- end -}}

{{- define "adder.env" -}}
{{- $password := .Values.postgresql.passwordSecret }}
{{- $keys := .Values.s3.keysSecret }}
{{- if or $password.name $keys.name }}
env:
  {{- if $password.name }}
  - name: PGPASSWORD
    valueFrom: {secretKeyRef: {name: {{ $password.name }}, key: {{ $password.key }}}}
  {{- end }}
  {{- if $keys.name }}
  - name: AWS_ACCESS_KEY_ID
    valueFrom: {secretKeyRef: {name: {{ $keys.name }}, key: {{ $keys.accessKeyId }}}}
  - name: AWS_SECRET_ACCESS_KEY
    valueFrom: {secretKeyRef: {name: {{ $keys.name }}, key: {{ $keys.secretAccessKey }}}}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "adder.mounts" -}}
{{- $values := .root.Values -}}
- {name: data, mountPath: /data}
- {name: tmp, mountPath: /tmp}
- {name: config, mountPath: /etc/adder, readOnly: true}
- {name: secret, mountPath: /run/secrets/adder, readOnly: true}
{{- if $values.nats.tlsSecret.name }}
- {name: nats-tls, mountPath: /run/secrets/nats-tls, readOnly: true}
{{- end }}
{{- if $values.nats.credentialsSecret.name }}
- {name: nats, mountPath: /run/secrets/nats, readOnly: true}
{{- end }}
{{- if and (eq .component "gateway") $values.gateway.tlsSecret.name }}
- {name: tls, mountPath: /run/secrets/tls, readOnly: true}
{{- end }}
{{- end -}}

{{/* Files of secrets are root's and readable by fsGroup. */}}
{{- define "adder.volumes" -}}
{{- $values := .root.Values -}}
{{- $disk := eq .component "node" | ternary $values.nodes.storage.size "2Gi" -}}
- {name: data, emptyDir: {sizeLimit: {{ $disk }}}}
- {name: tmp, emptyDir: {sizeLimit: {{ $disk }}}}
- {name: config, configMap: {name: {{ include "adder.name" .root }}-{{ .component }}}}
- {name: secret, secret: {secretName: {{ include "adder.secret" .root }}, defaultMode: 0440}}
{{- with $values.tokensSecret.name }}
- {name: tokens, secret: {secretName: {{ . }}, defaultMode: 0440}}
{{- end }}
{{- with $values.nats.tlsSecret.name }}
- {name: nats-tls, secret: {secretName: {{ . }}, defaultMode: 0440}}
{{- end }}
{{- with $values.nats.credentialsSecret }}
{{- if .name }}
- {name: nats, secret: {secretName: {{ .name }}, defaultMode: 0440, items: [{key: {{ .key }}, path: nats.creds}]}}
{{- end }}
{{- end }}
{{- if and (eq .component "gateway") $values.gateway.tlsSecret.name }}
- {name: tls, secret: {secretName: {{ $values.gateway.tlsSecret.name }}, defaultMode: 0440}}
{{- end }}
{{- end -}}

{{/* Adder writes its file of tokens, when a browser signs in, and reads none that others may read: it gets a copy. */}}
{{- define "adder.tokens" -}}
{{- if .Values.tokensSecret.name }}
initContainers:
  - name: tokens
    image: {{ include "adder.image" . }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    command: [sh, -euc, "umask 077; mkdir -p /data/state; install -m 600 /run/secrets/tokens/tokens.json /data/state/"]
    securityContext: {{- include "adder.restricted" . | nindent 6 }}
    resources:
      requests: {cpu: 10m, memory: 16Mi}
      limits: {memory: 64Mi}
    volumeMounts:
      - {name: data, mountPath: /data}
      - {name: tokens, mountPath: /run/secrets/tokens, readOnly: true}
{{- end }}
{{- end -}}

{{- define "adder.probes" -}}
{{- $scheme := eq .component "gateway" | ternary (include "adder.scheme" .root | upper) "HTTP" -}}
livenessProbe:
  httpGet: {path: /healthz, port: http, scheme: {{ $scheme }}}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: http, scheme: {{ $scheme }}}
  periodSeconds: 5
  timeoutSeconds: 5
{{- end -}}

{{- define "adder.placement" -}}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Each on another machine, if there are enough. */}}
{{- define "adder.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "adder.selector" . | nindent 8 }}
{{- end -}}

{{- define "adder.pullSecrets" -}}
{{- if .Values.image.pullSecrets }}
imagePullSecrets:
{{- range .Values.image.pullSecrets }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end -}}
