// Events that pages report to scripts: console messages and metrics.

class ConsoleMessage {
  constructor(page, args, text, type) {
    this.page_ = page;
    this.args_ = args;
    this.text_ = text;
    this.type_ = type;
  }

  args() {
    return this.args_;
  }

  page() {
    return this.page_;
  }

  text() {
    return this.text_;
  }

  type() {
    return this.type_;
  }
}

const shownArgument = (remote) => {
  if (remote.type === 'string') return remote.value;
  if (remote.type === 'undefined') return 'undefined';
  if (remote.subtype === 'null') return 'null';
  if (remote.value !== undefined) return String(remote.value);
  return remote.unserializableValue ?? shownPreview(remote.preview) ?? remote.description ?? '';
};

function shownPreview(preview) {
  if (!preview || (preview.type !== 'object') || (preview.subtype && preview.subtype !== 'array')) return undefined;
  const shown = preview.properties.map(({ name, value, type }) => {
    const text = type === 'string' ? JSON.stringify(value) : value;
    return preview.subtype === 'array' ? text : `${JSON.stringify(name)}:${text}`;
  });
  return preview.subtype === 'array' ? `[${shown.join(',')}]` : `{${shown.join(',')}}`;
}

/** A metric that is about to be recorded. A script may group its `url` and `name`. */
class MetricMessage {
  constructor(page) {
    this.page_ = page;
  }

  tag({ name, matches } = {}) {
    if (typeof name !== 'string' || name.trim() === '') throw new TypeError("metric.tag: 'name' must be a text that is not empty");
    if (!Array.isArray(matches) || matches.length === 0) throw new TypeError("metric.tag: 'matches' must be a list of { url, method }");
    for (const { url, method } of matches) {
      if (!(url instanceof RegExp)) throw new TypeError('metric.tag: the url of a match must be a regular expression');
      this.found ??= url.test(this.url_) && (!method || method === this.method_) ? name : undefined;
    }
  }
}

class Worker {
  constructor(url) {
    this.url_ = url;
  }

  url() {
    return this.url_;
  }
}
