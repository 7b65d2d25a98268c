{{- /* Nothing, in the one namespace that code and rights name. */ -}}
{{- define "evenkeel.placed" -}}
{{- if ne .Release.Namespace "evenkeel-system" -}}
{{- fail "Evenkeel's namespace is evenkeel-system: add --namespace evenkeel-system --create-namespace" -}}
{{- end -}}
{{- end -}}

{{- /* The image, by its digest if there is one. */ -}}
{{- define "evenkeel.image" -}}
{{- with .Values.image -}}
{{- if not .repository }}{{ fail "image.repository is empty: name the image that `docker build` made of the Dockerfile" }}{{ end -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end -}}

{{- /* What a Secret in the cluster has: its name and a key. Of two tokens the first is the current one. */ -}}
{{- define "evenkeel.kept" -}}
{{- $found := lookup "v1" "Secret" "evenkeel-system" (index . 0) -}}
{{- get (($found).data | default dict) (index . 1) | b64dec -}}
{{- end -}}

{{- /* Clauses by which a node is not spot, as JSON: by the capacity labels of the settings. */ -}}
{{- define "evenkeel.notSpot" -}}
{{- $usual := "node.kubernetes.io/capacity,eks.amazonaws.com/capacityType,karpenter.sh/capacity-type" -}}
{{- $keys := list -}}
{{- $own := dict -}}
{{- range splitList "," (.Values.settings.EVENKEEL_CAPACITY_LABELS | default $usual) -}}
{{- $part := splitList "=" (trim .) -}}
{{- $key := first $part -}}
{{- $keys = append $keys $key -}}
{{- $_ := set $own $key (concat (get $own $key | default list) (rest $part)) -}}
{{- end -}}
{{- $clauses := list -}}
{{- range uniq $keys -}}
{{- $values := concat (get $own .) (list "spot" "SPOT" "Spot") | uniq -}}
{{- $clauses = append $clauses (dict "key" . "operator" "NotIn" "values" $values) -}}
{{- end -}}
{{- toJson $clauses -}}
{{- end -}}
