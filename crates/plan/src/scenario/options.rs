//! A scenario as written in a script.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::arrivals::Arrivals;
use crate::executor::ExecutorKind;
use crate::option_value::{Fields, OptionValue, Reader};
use crate::stage::StageOption;

/// A scenario as written. When it was read, its fields were checked against its executor.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioOptions {
    pub executor: ExecutorKind,
    pub start_time: Option<Duration>,
    pub graceful_stop: Option<Duration>,
    pub env: Option<BTreeMap<String, String>>,
    pub exec: Option<String>,
    pub tags: Option<BTreeMap<String, String>>,
    /// The scenario's own `options`, which may only contain `browser`.
    pub options: Option<Value>,
    pub vus: Option<i64>,
    pub iterations: Option<i64>,
    pub max_duration: Option<Duration>,
    pub duration: Option<Duration>,
    pub start_vus: Option<i64>,
    pub stages: Option<Vec<StageOption>>,
    pub graceful_ramp_down: Option<Duration>,
    pub rate: Option<i64>,
    pub start_rate: Option<i64>,
    pub time_unit: Option<Duration>,
    pub pre_allocated_vus: Option<i64>,
    pub max_vus: Option<i64>,
    /// How arrivals are distributed. This is an addition to k6's keys, for arrival rates.
    pub arrivals: Option<Arrivals>,
}

/// The fields that every scenario has, in the order in which they are shown.
const COMMON: [&str; 7] = [
    "executor",
    "startTime",
    "gracefulStop",
    "env",
    "exec",
    "tags",
    "options",
];

impl ExecutorKind {
    /// Whether `arrivals` may be set.
    const fn has_arrivals(self) -> bool {
        matches!(
            self,
            ExecutorKind::ConstantArrivalRate | ExecutorKind::RampingArrivalRate
        )
    }

    /// The additional fields for this executor, in the order in which they are shown.
    pub(crate) const fn fields(self) -> &'static [&'static str] {
        match self {
            ExecutorKind::SharedIterations | ExecutorKind::PerUserIterations => {
                &["vus", "iterations", "maxDuration"]
            }
            ExecutorKind::ConstantUsers => &["vus", "duration"],
            ExecutorKind::RampingUsers => &["startVUs", "stages", "gracefulRampDown"],
            ExecutorKind::ConstantArrivalRate => {
                &["rate", "timeUnit", "duration", "preAllocatedVUs", "maxVUs"]
            }
            ExecutorKind::RampingArrivalRate => &[
                "startRate",
                "timeUnit",
                "stages",
                "preAllocatedVUs",
                "maxVUs",
            ],
            ExecutorKind::ExternallyControlled => &["vus", "duration", "maxVUs"],
        }
    }
}

impl OptionValue for Arrivals {
    fn from_json(value: &Value, reader: &mut Reader<'_>) -> Option<Arrivals> {
        match value.as_str().map(Arrivals::parse) {
            Some(Ok(arrivals)) => Some(arrivals),
            Some(Err(fault)) => reader.fault(fault),
            None => reader.wrong_kind("a string such as \"poisson\"", value),
        }
    }

    fn from_text(text: &str) -> Result<Arrivals, String> {
        Arrivals::parse(text)
    }

    fn to_json(&self) -> Value {
        Value::from(self.to_string())
    }
}

impl ScenarioOptions {
    /// A scenario with that executor and no other settings.
    pub fn new(executor: ExecutorKind) -> ScenarioOptions {
        ScenarioOptions {
            executor,
            start_time: None,
            graceful_stop: None,
            env: None,
            exec: None,
            tags: None,
            options: None,
            vus: None,
            iterations: None,
            max_duration: None,
            duration: None,
            start_vus: None,
            stages: None,
            graceful_ramp_down: None,
            rate: None,
            start_rate: None,
            time_unit: None,
            pre_allocated_vus: None,
            max_vus: None,
            arrivals: None,
        }
    }

    fn read_own(&mut self, field: &'static str, fields: &mut Fields<'_>, reader: &mut Reader<'_>) {
        match field {
            "vus" => self.vus = fields.take(field, reader),
            "iterations" => self.iterations = fields.take(field, reader),
            "maxDuration" => self.max_duration = fields.take(field, reader),
            "duration" => self.duration = fields.take(field, reader),
            "startVUs" => self.start_vus = fields.take(field, reader),
            "stages" => self.stages = fields.take(field, reader),
            "gracefulRampDown" => self.graceful_ramp_down = fields.take(field, reader),
            "rate" => self.rate = fields.take(field, reader),
            "startRate" => self.start_rate = fields.take(field, reader),
            "timeUnit" => self.time_unit = fields.take(field, reader),
            "preAllocatedVUs" => self.pre_allocated_vus = fields.take(field, reader),
            "maxVUs" => self.max_vus = fields.take(field, reader),
            _ => {}
        }
    }

    fn show_own(&self, field: &'static str) -> Value {
        match field {
            "vus" => show(&self.vus),
            "iterations" => show(&self.iterations),
            "maxDuration" => show(&self.max_duration),
            "duration" => show(&self.duration),
            "startVUs" => show(&self.start_vus),
            "stages" => show(&self.stages),
            "gracefulRampDown" => show(&self.graceful_ramp_down),
            "rate" => show(&self.rate),
            "startRate" => show(&self.start_rate),
            "timeUnit" => show(&self.time_unit),
            "preAllocatedVUs" => show(&self.pre_allocated_vus),
            "maxVUs" => show(&self.max_vus),
            _ => Value::Null,
        }
    }
}

fn show<T: OptionValue>(value: &Option<T>) -> Value {
    value.as_ref().map_or(Value::Null, OptionValue::to_json)
}

impl OptionValue for ScenarioOptions {
    fn from_json(value: &Value, reader: &mut Reader<'_>) -> Option<ScenarioOptions> {
        let mut fields = Fields::of(value, reader)?;
        let Some(name) = fields.take::<String>("executor", reader) else {
            return match fields.raw("executor") {
                // The wrong type was already reported.
                Some(_) => None,
                None => reader.fault(format!("has no executor: choose one of {}", kinds())),
            };
        };
        let Some(executor) = ExecutorKind::from_name(&name) else {
            let known = ExecutorKind::ALL.map(ExecutorKind::name);
            let unknown = plimsoll_units::UnknownName::new("executor", &name, &known);
            return reader.fault(unknown.to_string());
        };
        let mut scenario = ScenarioOptions::new(executor);
        scenario.start_time = fields.take("startTime", reader);
        scenario.graceful_stop = fields.take("gracefulStop", reader);
        scenario.env = fields.take("env", reader);
        scenario.exec = fields.take("exec", reader);
        scenario.tags = fields.take("tags", reader);
        scenario.options = fields.take("options", reader);
        if let Some(options) = &scenario.options {
            reader.inside("options", |reader| {
                if let Some(mut fields) = Fields::of(options, reader) {
                    let _: Option<Value> = fields.take("browser", reader);
                    fields.refuse_rest(&["browser"], reader);
                }
            });
        }
        for field in executor.fields() {
            scenario.read_own(field, &mut fields, reader);
        }
        if executor.has_arrivals() {
            scenario.arrivals = fields.take("arrivals", reader);
        }
        if executor == ExecutorKind::ExternallyControlled && scenario.max_vus.is_none() {
            scenario.max_vus = scenario.vus;
        }
        let own = if executor.has_arrivals() {
            &["arrivals"][..]
        } else {
            &[]
        };
        let known = executor.fields().iter().chain(own).chain(&COMMON);
        let known: Vec<&str> = known.copied().collect();
        fields.refuse_rest(&known, reader);
        Some(scenario)
    }

    fn from_text(_: &str) -> Result<ScenarioOptions, String> {
        Err("scenarios can only be set by the script or a config file".to_owned())
    }

    fn to_json(&self) -> Value {
        let mut object = Map::new();
        let mut put = |key: &str, value| object.insert(key.to_owned(), value);
        put("executor", Value::from(self.executor.name()));
        put("startTime", show(&self.start_time));
        put("gracefulStop", show(&self.graceful_stop));
        put("env", show(&self.env));
        put("exec", show(&self.exec));
        put("tags", show(&self.tags));
        if let Some(options) = &self.options {
            put("options", options.clone());
        }
        for field in self.executor.fields() {
            put(field, self.show_own(field));
        }
        if self.arrivals.is_some() {
            put("arrivals", show(&self.arrivals));
        }
        Value::Object(object)
    }
}

fn kinds() -> String {
    ExecutorKind::ALL.map(ExecutorKind::name).join(", ")
}
