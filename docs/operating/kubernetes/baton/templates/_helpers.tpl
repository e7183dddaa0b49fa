{{- define "baton.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "baton.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "baton.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "baton.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "baton.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/version: {{ .Values.image.tag | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "baton.selector" . }}
{{- end }}

{{/* Immutable: nothing that changes between releases. */}}
{{- define "baton.selector" -}}
app.kubernetes.io/name: {{ include "baton.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "baton.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ default (include "baton.fullname" .) .Values.serviceAccount.name }}
{{- else }}{{ default "default" .Values.serviceAccount.name }}{{ end }}
{{- end }}

{{/* The pod of a server or a worker. Takes a dict of root, component and of (its values). */}}
{{- define "baton.pod" -}}
{{- $root := .root }}
{{- $values := $root.Values }}
{{- $isServer := eq .component "server" }}
metadata:
  labels:
    {{- include "baton.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  {{- with $values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "baton.serviceAccount" $root }}
  automountServiceAccountToken: false
  # Longer than preStop and the drain together: otherwise every deployment is a crash.
  terminationGracePeriodSeconds: {{ add (ternary (int .of.preStopSeconds) 0 $isServer) (ceil (divf $values.graceMs 1000)) 15 }}
  {{- with $values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    seccompProfile: { type: RuntimeDefault }
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "baton.selector" $root | nindent 10 }}
          app.kubernetes.io/component: {{ .component }}
  {{- with $values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .component }}
      image: {{ printf "%s:%s" $values.image.repository $values.image.tag | quote }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      command: {{ toJson .of.command }}
      ports:
        {{- if $isServer }}
        - { name: http, containerPort: 4000, protocol: TCP }
        {{- end }}
        - { name: probes, containerPort: 9464, protocol: TCP }
      env:
        - { name: NODE_ENV, value: production }
        - { name: HOST, value: "0.0.0.0" }
        {{- if $isServer }}
        - { name: PORT, value: "4000" }
        {{- end }}
        - { name: PROBES_PORT, value: "9464" }
        - { name: GRACE_MS, value: {{ $values.graceMs | int | quote }} }
        - name: NAME
          valueFrom: { fieldRef: { fieldPath: metadata.name } }
        {{- if $isServer }}
        - { name: PUBLIC_URL, value: {{ .of.publicUrl | quote }} }
        {{- else }}
        - { name: TURNS, value: {{ .of.turns | int | quote }} }
        {{- end }}
        - name: BATON_STORE
          valueFrom: { secretKeyRef: { name: {{ $values.secrets.store.name }}, key: {{ $values.secrets.store.key }} } }
        {{- with $values.secrets.metricsToken }}
        {{- if .name }}
        - name: METRICS_TOKEN
          valueFrom: { secretKeyRef: { name: {{ .name }}, key: {{ .key }} } }
        {{- end }}
        {{- end }}
        {{- range $name, $value := $values.env }}
        - { name: {{ $name }}, value: {{ $value | quote }} }
        {{- end }}
      {{- with $values.envFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      # Up to two minutes to reach the store for the first time.
      startupProbe:
        httpGet: { path: /startupz, port: probes }
        periodSeconds: 2
        timeoutSeconds: 5
        failureThreshold: 60
      # Asks nothing but the event loop: a store that is away restarts no pod.
      livenessProbe:
        httpGet: { path: /livez, port: probes }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: probes }
        periodSeconds: 5
        timeoutSeconds: 6
        failureThreshold: 2
      {{- if and $isServer (gt (int .of.preStopSeconds) 0) }}
      lifecycle:
        preStop:
          sleep: { seconds: {{ int .of.preStopSeconds }} }
      {{- end }}
      resources:
        {{- toYaml .of.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
  volumes:
    - name: tmp
      emptyDir: {}
{{- end }}
