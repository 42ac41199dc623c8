//! The messages of remote write 1.0 that this crate uses, with the field numbers of Prometheus' `remote.proto` and
//! `types.proto`.

/// The values of several series.
#[derive(Clone, PartialEq, prost::Message)]
pub struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    pub timeseries: Vec<TimeSeries>,
}

/// The values of one series: samples or histograms.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TimeSeries {
    /// Sorted by name. `__name__` is the name of the metric.
    #[prost(message, repeated, tag = "1")]
    pub labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    pub samples: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    pub histograms: Vec<Histogram>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Label {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Sample {
    #[prost(double, tag = "1")]
    pub value: f64,
    /// Milliseconds since 1970.
    #[prost(int64, tag = "2")]
    pub timestamp: i64,
}

/// A native histogram with integer counts.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Histogram {
    #[prost(oneof = "Count", tags = "1")]
    pub count: Option<Count>,
    #[prost(double, tag = "3")]
    pub sum: f64,
    /// Each power of two has `2^schema` buckets.
    #[prost(sint32, tag = "4")]
    pub schema: i32,
    /// Values up to this magnitude are in the zero bucket.
    #[prost(double, tag = "5")]
    pub zero_threshold: f64,
    #[prost(oneof = "ZeroCount", tags = "6")]
    pub zero_count: Option<ZeroCount>,
    #[prost(message, repeated, tag = "8")]
    pub negative_spans: Vec<BucketSpan>,
    #[prost(sint64, repeated, tag = "9")]
    pub negative_deltas: Vec<i64>,
    #[prost(message, repeated, tag = "11")]
    pub positive_spans: Vec<BucketSpan>,
    /// The first count, followed by the difference between each count and the previous one.
    #[prost(sint64, repeated, tag = "12")]
    pub positive_deltas: Vec<i64>,
    /// Milliseconds since 1970.
    #[prost(int64, tag = "15")]
    pub timestamp: i64,
}

#[derive(Clone, Copy, PartialEq, prost::Oneof)]
pub enum Count {
    #[prost(uint64, tag = "1")]
    Integer(u64),
}

#[derive(Clone, Copy, PartialEq, prost::Oneof)]
pub enum ZeroCount {
    #[prost(uint64, tag = "6")]
    Integer(u64),
}

/// Consecutive buckets.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct BucketSpan {
    /// The number of empty buckets since the previous span. For the first span, the index of its first bucket.
    #[prost(sint32, tag = "1")]
    pub offset: i32,
    #[prost(uint32, tag = "2")]
    pub length: u32,
}
