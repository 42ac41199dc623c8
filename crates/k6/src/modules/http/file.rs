//! `http.file`: a part of a multipart body.

use std::time::{SystemTime, UNIX_EPOCH};

use plimsoll_quickjs::{Call, Class, Context, InImage, Returned, Thrown, Value};

/// The result of `http.file`. Its properties are ordinary properties that scripts may change.
pub struct FileData;

impl Class for FileData {
    const IN_IMAGE: InImage<Self> = InImage::Shared;
}

impl FileData {
    /// The bytes of a file's data: a string, or binary data of any kind.
    pub fn bytes(file: &Value<'_>) -> Result<Option<Vec<u8>>, Thrown> {
        let data = file.get("data")?;
        if data.is_string() {
            return Ok(Some(data.to_text()?.as_bytes().to_vec()));
        }
        Ok(data.to_bytes())
    }
}

/// `http.file(data, filename?, contentType?)`.
pub fn file<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let data = call.argument(0);
    if !data.is_string() && !data.is_array_buffer() {
        return Err(context.throw_plain("http.file() accepts a string or an ArrayBuffer"));
    }
    let text = |index: usize, default: &dyn Fn() -> String| match call.argument(index) {
        argument if argument.is_undefined() => Ok(default()),
        argument if argument.is_null() => Ok(String::new()),
        argument => argument.to_text().map(|text| text.into_string()),
    };
    // The name is unique among the files of one body, like k6's names with nanoseconds.
    let filename = text(1, &|| {
        context.differs_per_user("the init code names a file by the time");
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.unwrap_or_default().as_nanos().to_string()
    })?;
    let content_type = text(2, &|| "application/octet-stream".to_owned())?;
    let object = context.instance(FileData)?;
    object.define("data", data.clone())?;
    object.define("filename", context.string(&filename)?)?;
    object.define("content_type", context.string(&content_type)?)?;
    Ok(object)
}
