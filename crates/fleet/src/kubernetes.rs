//! Manifests for agents in Kubernetes: a secret with the agents' file, and an indexed job.

use serde_json::{Value, json};

/// Agents to run in a cluster.
#[derive(Clone, Debug)]
pub struct ClusterAgents {
    pub agents: u32,
    /// The container image. Its entry point must be `plimsoll`.
    pub image: String,
    pub namespace: String,
    pub region: Option<String>,
    /// The number of processors that each agent requests, in Kubernetes' notation (`2`, `500m`).
    pub cpu: String,
    /// The memory limit of each agent (`512Mi`).
    pub memory: String,
}

/// The name of the job and of the secret.
pub const NAME: &str = "plimsoll-agents";
/// How often the pod of an index is replaced after a failure. The others continue.
const MAX_REPLACEMENTS: u32 = 6;

impl ClusterAgents {
    /// The manifests in one list, as JSON, which is also valid YAML. `access` is the content of the agents' file.
    pub fn manifests(&self, access: &str) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "List",
            "items": [self.secret(access), self.job()],
        })
    }

    fn metadata(&self) -> Value {
        json!({
            "name": NAME,
            "namespace": self.namespace,
            "labels": { "app.kubernetes.io/name": NAME },
        })
    }

    pub fn secret(&self, access: &str) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": self.metadata(),
            "type": "Opaque",
            "stringData": { "agent.json": access },
        })
    }

    pub fn job(&self) -> Value {
        let mut arguments = vec![
            "fleet".to_owned(),
            "agent".to_owned(),
            "/etc/plimsoll/agent.json".to_owned(),
            "--name".to_owned(),
            "$(AGENT)".to_owned(),
            "--spool".to_owned(),
            "/var/spool/plimsoll".to_owned(),
        ];
        if let Some(region) = &self.region {
            arguments.extend(["--region".to_owned(), region.clone()]);
        }
        let resources = json!({
            "requests": { "cpu": self.cpu, "memory": self.memory },
            "limits": { "memory": self.memory },
        });
        let container = json!({
            "name": "agent",
            "image": self.image,
            "args": arguments,
            "env": [{
                "name": "AGENT",
                "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } },
            }],
            "resources": resources,
            "securityContext": {
                "allowPrivilegeEscalation": false,
                "readOnlyRootFilesystem": true,
                "capabilities": { "drop": ["ALL"] },
            },
            "volumeMounts": [
                { "name": "access", "mountPath": "/etc/plimsoll", "readOnly": true },
                { "name": "spool", "mountPath": "/var/spool/plimsoll" },
                { "name": "temporary", "mountPath": "/tmp" },
            ],
        });
        let pod = json!({
            // Another pod replaces a failed one. As a new agent, it can take part in the next run.
            "restartPolicy": "Never",
            "automountServiceAccountToken": false,
            "securityContext": {
                "runAsNonRoot": true,
                "runAsUser": 65_532,
                "fsGroup": 65_532,
                "seccompProfile": { "type": "RuntimeDefault" },
            },
            // One agent per machine, if there are enough machines.
            "topologySpreadConstraints": [{
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": { "matchLabels": { "app.kubernetes.io/name": NAME } },
            }],
            "containers": [container],
            "volumes": [
                { "name": "access", "secret": { "secretName": NAME } },
                { "name": "spool", "emptyDir": {} },
                { "name": "temporary", "emptyDir": {} },
            ],
        });
        json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": self.metadata(),
            "spec": {
                "completionMode": "Indexed",
                "completions": self.agents,
                "parallelism": self.agents,
                "backoffLimitPerIndex": MAX_REPLACEMENTS,
                "template": {
                    "metadata": { "labels": { "app.kubernetes.io/name": NAME } },
                    "spec": pod,
                },
            },
        })
    }
}
