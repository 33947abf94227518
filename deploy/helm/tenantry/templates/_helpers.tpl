{{- define "tenantry.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "tenantry.selector" -}}
app.kubernetes.io/name: tenantry
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "tenantry.labels" -}}
{{ include "tenantry.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}
