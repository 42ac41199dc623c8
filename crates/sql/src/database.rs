//! A database of any type.

use std::cell::RefCell;
use std::time::Duration;

use crate::connect_options::ConnectOptions;
use crate::mysql::{Address, MySql};
use crate::postgres::{Postgres, Server};
use crate::sqlite::Sqlite;
use crate::value::{Changes, Rows, SqlValue};

/// The time limit for opening a connection.
const OPENING: Duration = Duration::from_secs(30);

/// The types of databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    MySql,
    Postgres,
    Sqlite,
}

/// One connection to a database. It is opened when it is first used. A call that is dropped closes it.
pub struct Database {
    place: Place,
    open: RefCell<Option<Open>>,
}

#[derive(Clone)]
enum Place {
    MySql(Box<Address>),
    Postgres(Box<Server>),
    Sqlite(String),
}

enum Open {
    MySql(Box<MySql>),
    Postgres(Postgres),
    Sqlite(Sqlite),
}

/// What to do with a statement.
enum Work {
    Query(Rows),
    Execute(Changes),
}

impl Driver {
    /// The driver with this name. The names are those of k6's extension.
    pub fn from_name(name: &str) -> Option<Driver> {
        match name {
            "mysql" => Some(Driver::MySql),
            "postgres" => Some(Driver::Postgres),
            "sqlite3" => Some(Driver::Sqlite),
            _ => None,
        }
    }
}

impl Database {
    /// A database with this address. The connection is not opened yet.
    ///
    /// # Errors
    /// If the address is malformed.
    pub fn new(driver: Driver, address: &str) -> Result<Database, String> {
        let place = match driver {
            Driver::MySql => Place::MySql(Box::new(Address::parse(address)?)),
            Driver::Postgres => Place::Postgres(Box::new(Server::parse(address)?)),
            Driver::Sqlite => Place::Sqlite(address.to_owned()),
        };
        Ok(Database {
            place,
            open: RefCell::default(),
        })
    }

    /// The same database, not opened.
    pub fn unopened(&self) -> Database {
        Database {
            place: self.place.clone(),
            open: RefCell::default(),
        }
    }

    /// Whether any server certificate is accepted.
    pub fn accepts_any_certificate(&self) -> bool {
        match &self.place {
            Place::MySql(address) => address.accepts_any_certificate(),
            Place::Postgres(server) => server.accepts_any_certificate(),
            Place::Sqlite(_) => false,
        }
    }

    /// The rows of a query.
    ///
    /// # Errors
    /// The database's error message, or why there is no connection.
    pub async fn query(
        &self,
        options: &ConnectOptions,
        text: &str,
        values: Vec<SqlValue>,
    ) -> Result<Rows, String> {
        match self.run(options, text, values, true).await? {
            Work::Query(rows) => Ok(rows),
            Work::Execute(_) => Ok(Rows::default()),
        }
    }

    /// Executes statements that return no rows.
    ///
    /// # Errors
    /// The database's error message, or why there is no connection.
    pub async fn execute(
        &self,
        options: &ConnectOptions,
        text: &str,
        values: Vec<SqlValue>,
    ) -> Result<Changes, String> {
        match self.run(options, text, values, false).await? {
            Work::Execute(changes) => Ok(changes),
            Work::Query(_) => Ok(Changes::default()),
        }
    }

    /// Closes the connection if it is open.
    pub fn close(&self) {
        drop(self.open.take());
    }

    async fn open(&self, options: &ConnectOptions) -> Result<Open, String> {
        Ok(match &self.place {
            Place::MySql(address) => Open::MySql(Box::new(MySql::open(address, options).await?)),
            Place::Postgres(server) => Open::Postgres(Postgres::open(server, options).await?),
            Place::Sqlite(path) => Open::Sqlite(Sqlite::open(path).await?),
        })
    }

    async fn run(
        &self,
        options: &ConnectOptions,
        text: &str,
        values: Vec<SqlValue>,
        has_rows: bool,
    ) -> Result<Work, String> {
        // The connection is put back after the call, so dropping the call closes it.
        let open = self.open.take();
        let mut open = match open {
            Some(open) => open,
            None => match tokio::time::timeout(OPENING, self.open(options)).await {
                Ok(opened) => opened?,
                Err(_) => return Err("the database did not respond within 30s".to_owned()),
            },
        };
        let (work, is_usable) = match &mut open {
            Open::MySql(mysql) => {
                let work = match has_rows {
                    true => mysql.query(text, values).await.map(Work::Query),
                    false => mysql.execute(text, values).await.map(Work::Execute),
                };
                (work, mysql.is_usable())
            }
            Open::Postgres(postgres) => {
                let work = match has_rows {
                    true => postgres.query(text, values).await.map(Work::Query),
                    false => postgres.execute(text, values).await.map(Work::Execute),
                };
                (work, postgres.is_usable())
            }
            Open::Sqlite(sqlite) => {
                let work = match has_rows {
                    true => sqlite.query(text, values).await.map(Work::Query),
                    false => sqlite.execute(text, values).await.map(Work::Execute),
                };
                (work, true)
            }
        };
        if is_usable {
            *self.open.borrow_mut() = Some(open);
        }
        work
    }
}
