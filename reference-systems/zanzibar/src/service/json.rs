//! Values in protobuf's JSON mapping: `null` equals an unset field, a number may be written as
//! a string, and a message is an object, never a list.

use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, Unexpected, Visitor,
};

pub fn read<T: DeserializeOwned + Default>(body: &[u8]) -> serde_json::Result<T> {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let read: Option<T> = message(&mut deserializer)?;
    deserializer.end()?;
    Ok(read.unwrap_or_default())
}

/// A message, or `null`.
pub fn message<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Message<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Message<T> {
        type Value = Option<T>;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Option<T>, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map)).map(Some)
        }

        fn visit_unit<E: Error>(self) -> Result<Option<T>, E> {
            Ok(None)
        }
    }

    deserializer.deserialize_any(Message(PhantomData))
}

/// A string, or `null`.
pub fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.unwrap_or_default())
}

/// A `uint32`.
pub fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    struct Count;

    impl Visitor<'_> for Count {
        type Value = u32;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("a whole number from 0 to 4294967295")
        }

        fn visit_u64<E: Error>(self, number: u64) -> Result<u32, E> {
            let wrong = || E::invalid_value(Unexpected::Unsigned(number), &self);
            u32::try_from(number).map_err(|_| wrong())
        }

        fn visit_f64<E: Error>(self, number: f64) -> Result<u32, E> {
            let whole = number as u32;
            if f64::from(whole) == number {
                return Ok(whole);
            }
            Err(E::invalid_value(Unexpected::Float(number), &self))
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<u32, E> {
            let wrong = || E::invalid_value(Unexpected::Str(text), &self);
            text.parse().map_err(|_| wrong())
        }

        fn visit_unit<E: Error>(self) -> Result<u32, E> {
            Ok(0)
        }
    }

    deserializer.deserialize_any(Count)
}

#[cfg(test)]
mod tests {
    use crate::messages::{CheckRequest, CheckResponse, ListRequest, ListResponse, Tuple};

    #[test]
    fn both_spellings_and_null_are_read() {
        let tuple = Tuple {
            object_type: "doc".into(),
            subject_id: "1".into(),
            ..Tuple::default()
        };
        for text in [
            r#"{"tuple":{"objectType":"doc","subjectId":"1"}}"#,
            r#"{"tuple":{"object_type":"doc","subject_id":"1","subject_relation":null}}"#,
        ] {
            let request: CheckRequest = super::read(text.as_bytes()).unwrap();
            assert_eq!(request.tuple.as_ref(), Some(&tuple), "{text}");
        }
        let none: CheckRequest = super::read(b"{}").unwrap();
        assert_eq!(none.tuple, None);
        for list in ["[]", r#"{"tuple":[]}"#, "7", "{} {}"] {
            assert!(
                super::read::<CheckRequest>(list.as_bytes()).is_err(),
                "{list}"
            );
        }
        let wrong = serde_json::from_str::<CheckRequest>(r#"{"tuple":{"objectTyp":"doc"}}"#);
        assert!(
            wrong
                .unwrap_err()
                .to_string()
                .contains("unknown field `objectTyp`")
        );
    }

    #[test]
    fn numbers_are_read_in_every_form() {
        for (text, limit) in [
            ("5", Some(5)),
            ("\"5\"", Some(5)),
            ("5.0", Some(5)),
            ("null", Some(0)),
            ("-1", None),
            ("4294967296", None),
            ("\"x\"", None),
        ] {
            let text = format!(r#"{{"pagination":{{"limit":{text}}}}}"#);
            let request = serde_json::from_str::<ListRequest>(&text);
            assert_eq!(
                request
                    .ok()
                    .map(|request| request.pagination.unwrap().limit),
                limit,
                "{text}"
            );
        }
    }

    #[test]
    fn empty_parts_are_left_out() {
        let write = |result| serde_json::to_string(&CheckResponse { result }).unwrap();
        assert_eq!(write(true), r#"{"result":true}"#);
        assert_eq!(write(false), "{}");
        let list = ListResponse {
            cursor: String::new(),
            tuples: vec![Tuple {
                object_type: "doc".into(),
                ..Tuple::default()
            }],
        };
        assert_eq!(
            serde_json::to_string(&list).unwrap(),
            r#"{"tuples":[{"objectType":"doc"}]}"#
        );
    }
}
