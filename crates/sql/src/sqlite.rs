//! SQLite databases. Their calls block, so they run on threads that may block.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, params_from_iter};

use crate::value::{Changes, Rows, SqlValue, moment};

/// An open database.
pub struct Sqlite(Arc<Mutex<Connection>>);

impl Sqlite {
    pub async fn open(path: &str) -> Result<Sqlite, String> {
        let path = path.to_owned();
        let opened = tokio::task::spawn_blocking(move || Connection::open(&path));
        let opened = opened.await.map_err(|error| error.to_string())?;
        let connection = opened.map_err(|error| error.to_string())?;
        Ok(Sqlite(Arc::new(Mutex::new(connection))))
    }

    pub async fn query(&self, text: &str, values: Vec<SqlValue>) -> Result<Rows, String> {
        let text = text.to_owned();
        self.call(move |connection| {
            let mut statement = connection.prepare(&text)?;
            let columns: Vec<String> = statement
                .column_names()
                .into_iter()
                .map(str::to_owned)
                .collect();
            let count = columns.len();
            let mut found = statement.query(params_from_iter(values.into_iter().map(to_sqlite)))?;
            let mut rows = Vec::new();
            while let Some(row) = found.next()? {
                let row: Result<Vec<_>, _> =
                    (0..count).map(|at| row.get_ref(at).map(value_of)).collect();
                rows.push(row?);
            }
            Ok(Rows { columns, rows })
        })
        .await
    }

    pub async fn execute(&self, text: &str, values: Vec<SqlValue>) -> Result<Changes, String> {
        let text = text.to_owned();
        self.call(move |connection| {
            let before = connection.total_changes();
            if values.is_empty() {
                connection.execute_batch(&text)?;
            } else {
                connection.execute(&text, params_from_iter(values.into_iter().map(to_sqlite)))?;
            }
            Ok(Changes {
                rows: connection.total_changes().saturating_sub(before),
                last_id: Some(connection.last_insert_rowid()),
            })
        })
        .await
    }

    async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, String> {
        let connection = Arc::clone(&self.0);
        let done = tokio::task::spawn_blocking(move || {
            // If a thread has panicked, the connection is still in the state in which SQLite left it.
            let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            work(&connection)
        });
        let done = done.await.map_err(|error| error.to_string())?;
        done.map_err(|error| error.to_string())
    }
}

fn to_sqlite(value: SqlValue) -> Value {
    match value {
        SqlValue::Null => Value::Null,
        SqlValue::Bool(truth) => Value::Integer(truth.into()),
        SqlValue::Integer(number) => Value::Integer(number),
        SqlValue::Float(number) => Value::Real(number),
        SqlValue::Time(milliseconds) => Value::Text(format!("{}Z", moment(milliseconds, "T"))),
        SqlValue::Text(text) => Value::Text(text),
        SqlValue::Bytes(bytes) | SqlValue::Octets(bytes) => Value::Blob(bytes),
    }
}

fn value_of(value: ValueRef<'_>) -> SqlValue {
    match value {
        ValueRef::Null => SqlValue::Null,
        ValueRef::Integer(number) => SqlValue::Integer(number),
        ValueRef::Real(number) => SqlValue::Float(number),
        ValueRef::Text(text) => SqlValue::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => SqlValue::Bytes(bytes.to_vec()),
    }
}
