// Requests of a page: their objects for scripts, their samples, and routes.

/** Headers with their names in lower case. */
function lowered(headers) {
  const out = {};
  for (const [name, value] of Object.entries(headers ?? {})) out[name.toLowerCase()] = value;
  return out;
}

const bytesOfHeaders = (headers) =>
  Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + String(value).length + 4, 0);

class Request {
  constructor(page, event, redirectedFrom) {
    const { request } = event;
    this.page = page;
    this.sample = redirectedFrom?.sample ?? page.session.sample;
    this.id = event.requestId;
    this.frame_ = page.framesById.get(event.frameId) ?? page.main;
    this.isNavigation = event.requestId === event.loaderId && event.type === 'Document';
    this.documentId = event.loaderId;
    this.url_ = request.url + (request.urlFragment ?? '');
    this.method_ = request.method;
    this.sentHeaders = request.headers;
    this.extraHeaders = null;
    this.body = request.postDataEntries?.length && request.postData === undefined
      ? native.textOfBytes(native.bytesOfBase64(request.postDataEntries.map((entry) => entry.bytes ?? '').join('')))
      : request.postData;
    this.type = String(event.type ?? 'other').toLowerCase();
    this.started = event.timestamp;
    this.wallTime = event.wallTime;
    this.redirectedFrom = redirectedFrom;
    this.response_ = null;
    this.error = null;
    this.fromCache = false;
    this.ended = false;
    this.endedAt = null;
    this.received = 0;
  }

  allHeaders() {
    return Promise.resolve(lowered(this.extraHeaders ?? this.sentHeaders));
  }

  /** Headers with the names as they were sent, as in k6. */
  headers() {
    return { ...this.sentHeaders };
  }

  headersArray() {
    const headers = this.extraHeaders ?? this.sentHeaders;
    return Promise.resolve(Object.entries(headers).map(([name, value]) => ({ name, value })));
  }

  async headerValue(name) {
    return (await this.allHeaders())[String(name).toLowerCase()] ?? null;
  }

  frame() {
    return this.frame_;
  }

  isNavigationRequest() {
    return this.isNavigation;
  }

  method() {
    return this.method_;
  }

  postData() {
    return this.body ?? null;
  }

  postDataBuffer() {
    return this.body === undefined ? null : native.bytesOfBase64(native.base64OfBytes(this.body));
  }

  resourceType() {
    return this.type;
  }

  async response() {
    if (!this.response_ && !this.ended) {
      await this.page.session.wait(['requestended', 'response'], () => (this.response_ || this.ended ? true : undefined),
        this.page.defaultTimeout(), `the response to ${this.url_}`);
    }
    return this.response_;
  }

  size() {
    const headers = this.extraHeaders ?? this.sentHeaders;
    return Promise.resolve({ headers: bytesOfHeaders(headers) + this.method_.length + this.url_.length + 12, body: this.body?.length ?? 0 });
  }

  timing() {
    const timing = this.response_?.facts.timing;
    const none = {
      startTime: this.wallTime * 1000, domainLookupStart: -1, domainLookupEnd: -1, connectStart: -1, connectEnd: -1,
      secureConnectionStart: -1, requestStart: -1, responseStart: -1, responseEnd: -1,
    };
    if (!timing) return none;
    return {
      ...none,
      domainLookupStart: timing.dnsStart, domainLookupEnd: timing.dnsEnd, connectStart: timing.connectStart,
      connectEnd: timing.connectEnd, secureConnectionStart: timing.sslStart, requestStart: timing.sendStart,
      responseStart: timing.receiveHeadersStart ?? timing.receiveHeadersEnd,
      responseEnd: this.endedAt === null ? -1 : (this.endedAt - timing.requestTime) * 1000,
    };
  }

  url() {
    return this.url_;
  }

  failure() {
    return this.error === null ? null : { errorText: this.error };
  }
}

class Response {
  constructor(request, facts) {
    this.request_ = request;
    this.facts = facts;
    this.extraHeaders = null;
    this.bytes = null;
  }

  allHeaders() {
    return Promise.resolve(lowered(this.extraHeaders ?? this.facts.headers));
  }

  headers() {
    return { ...this.facts.headers };
  }

  headersArray() {
    const all = [];
    for (const [name, value] of Object.entries(this.extraHeaders ?? this.facts.headers)) {
      for (const one of String(value).split('\n')) all.push({ name, value: one });
    }
    return Promise.resolve(all);
  }

  async headerValue(name) {
    const values = await this.headerValues(name);
    return values.length === 0 ? null : values.join(String(name).toLowerCase() === 'set-cookie' ? '\n' : ', ');
  }

  async headerValues(name) {
    const lower = String(name).toLowerCase();
    return (await this.headersArray()).filter((header) => header.name.toLowerCase() === lower).map((header) => header.value);
  }

  async body() {
    if (this.status() >= 300 && this.status() <= 399) throw new Error('Response body is unavailable for redirect responses');
    await this.finished();
    if (!this.bytes) {
      const { session } = this.request_.page;
      const { body, base64Encoded } = await session.send('Network.getResponseBody', { requestId: this.request_.id });
      this.bytes = native.bytesOfBase64(base64Encoded ? body : native.base64OfBytes(body));
    }
    return this.bytes;
  }

  async finished() {
    const request = this.request_;
    if (!request.ended) {
      await request.page.session.wait(['requestended'], (ended) => (ended === request ? true : undefined),
        request.page.defaultTimeout(), `the body of ${request.url_}`);
    }
  }

  async text() {
    return native.textOfBytes(await this.body());
  }

  async json() {
    return JSON.parse(await this.text());
  }

  frame() {
    return this.request_.frame();
  }

  ok() {
    return this.status() === 0 || (this.status() >= 200 && this.status() <= 299);
  }

  request() {
    return this.request_;
  }

  securityDetails() {
    const details = this.facts.securityDetails;
    return Promise.resolve(details ? {
      issuer: details.issuer, protocol: details.protocol, subjectName: details.subjectName, validFrom: details.validFrom,
      validTo: details.validTo, sanList: details.sanList,
    } : null);
  }

  serverAddr() {
    const { remoteIPAddress, remotePort } = this.facts;
    return Promise.resolve(remoteIPAddress ? { ipAddress: remoteIPAddress.replace(/^\[|\]$/g, ''), port: remotePort } : null);
  }

  status() {
    return this.facts.status;
  }

  statusText() {
    return this.facts.statusText;
  }

  async size() {
    const headers = bytesOfHeaders(this.extraHeaders ?? this.facts.headers);
    await this.finished();
    return { headers, body: Math.max(this.request_.received - headers, 0) };
  }

  url() {
    return this.facts.url;
  }
}

/** Follows the page's requests. */
class Network {
  constructor(page) {
    this.page = page;
    this.requests = new Map();
    this.routes = [];
    this.credentials = page.context_.options.httpCredentials;
    this.metricTags = [];
    const { session } = page;
    session.on('Network.requestWillBeSent', (event) => this.sent(event));
    session.on('Network.requestWillBeSentExtraInfo', ({ requestId, headers }) => {
      const request = this.requests.get(requestId);
      if (request) request.extraHeaders = headers;
    });
    session.on('Network.requestServedFromCache', ({ requestId }) => {
      const request = this.requests.get(requestId);
      if (request) request.fromCache = true;
    });
    session.on('Network.responseReceived', (event) => this.responded(this.requests.get(event.requestId), event.response));
    session.on('Network.responseReceivedExtraInfo', ({ requestId, headers }) => {
      const request = this.requests.get(requestId);
      if (request?.response_) request.response_.extraHeaders = headers;
    });
    session.on('Network.loadingFinished', (event) => this.ended(event, null));
    session.on('Network.loadingFailed', (event) => this.ended(event, event.errorText));
    session.on('Fetch.requestPaused', (event) => this.paused(event));
    session.on('Fetch.authRequired', (event) => this.challenged(event));
    this.challenges = new Set();
  }

  sent(event) {
    let redirectedFrom = null;
    if (event.redirectResponse) {
      redirectedFrom = this.requests.get(event.requestId) ?? null;
      if (redirectedFrom) {
        this.responded(redirectedFrom, event.redirectResponse);
        this.finish(redirectedFrom, event.timestamp, event.redirectResponse.encodedDataLength, null);
      }
    }
    const request = new Request(this.page, event, redirectedFrom);
    this.requests.set(event.requestId, request);
    if (!request.url_.startsWith('data:')) {
      const size = bytesOfHeaders(request.sentHeaders) + request.method_.length + request.url_.length + 12 + (request.body?.length ?? 0);
      this.sample('browser_data_sent', size, request, null);
    }
    this.page.session.emit('request', request);
  }

  responded(request, facts) {
    if (!request) return;
    request.response_ = new Response(request, facts);
    this.page.session.emit('response', request.response_);
  }

  ended({ requestId, timestamp, encodedDataLength }, error) {
    const request = this.requests.get(requestId);
    if (!request) return;
    this.requests.delete(requestId);
    this.finish(request, timestamp, encodedDataLength ?? 0, error);
  }

  finish(request, timestamp, received, error) {
    request.ended = true;
    request.endedAt = timestamp;
    request.error = error;
    request.received = received;
    this.measure(request);
    this.page.session.emit(error === null ? 'requestfinished' : 'requestfailed', request);
    this.page.session.emit('requestended', request);
  }

  /** Records the samples of a request. */
  measure(request) {
    if (request.url_.startsWith('data:') || request.url_.startsWith('blob:')) return;
    const response = request.response_;
    if (response) this.sample('browser_data_received', request.received, request, response);
    if (request.fromCache) return;
    this.sample('browser_http_req_duration', (request.endedAt - request.started) * 1000, request, response);
    const failed = request.error !== null || response === null || response.status() >= 400;
    this.sample('browser_http_req_failed', Number(failed), request, response);
  }

  sample(metric, value, request, response) {
    const tags = { method: request.method_, name: this.page.nameOf(request.url_, request.method_), url: request.url_, resource_type: RESOURCE_TYPES[request.type] ?? request.type };
    if (response) {
      const { facts } = response;
      tags.from_cache = Boolean(request.fromCache || facts.fromDiskCache);
      tags.from_prefetch_cache = Boolean(facts.fromPrefetchCache);
      tags.from_service_worker = Boolean(facts.fromServiceWorker);
      tags.proto = facts.protocol ?? '';
      tags.status = facts.status;
    }
    request.sample(metric, value, tags);
  }

  /** Requests pause only while something handles them, because pausing makes them slower. */
  async updatePausing() {
    const { session } = this.page;
    if (this.routes.length > 0 || this.credentials) {
      await session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }], handleAuthRequests: Boolean(this.credentials) });
    } else {
      await session.send('Fetch.disable');
    }
  }

  async paused(event) {
    const { session } = this.page;
    const { url } = event.request;
    const found = [...this.routes].reverse().find(({ matches }) => matches(url));
    if (!found) {
      session.tell('Fetch.continueRequest', { requestId: event.requestId });
      return;
    }
    const request = this.requests.get(event.networkId)
      ?? new Request(this.page, { ...event, requestId: event.networkId, type: event.resourceType, timestamp: 0, wallTime: 0 }, null);
    const route = new Route(this.page, event, request);
    native.hold(1);
    try {
      await found.handler(route);
    } catch (error) {
      native.log('error', `the handler of a route failed: ${error}`);
    } finally {
      native.hold(-1);
    }
    // A handler that makes no decision must not block the page.
    if (!route.decided) session.tell('Fetch.continueRequest', { requestId: event.requestId });
  }

  challenged({ requestId }) {
    const { session } = this.page;
    const isFirst = !this.challenges.has(requestId);
    this.challenges.add(requestId);
    const { username, password } = this.credentials ?? {};
    const authChallengeResponse = this.credentials && isFirst
      ? { response: 'ProvideCredentials', username, password }
      : { response: 'CancelAuth' };
    session.tell('Fetch.continueWithAuth', { requestId, authChallengeResponse });
  }
}

const RESOURCE_TYPES = {
  document: 'Document', stylesheet: 'Stylesheet', image: 'Image', media: 'Media', font: 'Font', script: 'Script',
  texttrack: 'TextTrack', xhr: 'XHR', fetch: 'Fetch', eventsource: 'EventSource', websocket: 'WebSocket', manifest: 'Manifest',
  ping: 'Ping', other: 'Other',
};

const ABORT_REASONS = {
  aborted: 'Aborted', accessdenied: 'AccessDenied', addressunreachable: 'AddressUnreachable', blockedbyclient: 'BlockedByClient',
  blockedbyresponse: 'BlockedByResponse', connectionaborted: 'ConnectionAborted', connectionclosed: 'ConnectionClosed',
  connectionfailed: 'ConnectionFailed', connectionrefused: 'ConnectionRefused', connectionreset: 'ConnectionReset',
  internetdisconnected: 'InternetDisconnected', namenotresolved: 'NameNotResolved', timedout: 'TimedOut', failed: 'Failed',
};

const headerEntries = (headers) => Object.entries(headers).map(([name, value]) => ({ name, value: String(value) }));

const encodedBody = (body) => native.base64OfBytes(body);

/** A paused request. A handler decides what to do with it. */
class Route {
  constructor(page, event, request) {
    this.page = page;
    this.id = event.requestId;
    this.request_ = request;
    this.decided = false;
  }

  decide(method, params) {
    if (this.decided) return Promise.reject(new Error('Route is already handled!'));
    this.decided = true;
    return this.page.session.send(method, { requestId: this.id, ...params }).then(() => undefined, (error) => {
      // The page may have canceled the request in the meantime.
      if (!/Invalid InterceptionId/.test(error.message)) throw error;
    });
  }

  request() {
    return this.request_;
  }

  abort(reason = 'failed') {
    const errorReason = ABORT_REASONS[reason];
    if (!errorReason) return Promise.reject(new Error(`route.abort: unknown error code "${reason}"`));
    return this.decide('Fetch.failRequest', { errorReason });
  }

  continue({ headers, method, postData, url } = {}) {
    return this.decide('Fetch.continueRequest', {
      url, method, postData: postData === undefined ? undefined : encodedBody(postData),
      headers: headers ? headerEntries(headers) : undefined,
    });
  }

  fulfill({ body = '', contentType, headers = {}, status = 200 } = {}) {
    const all = { ...headers };
    if (contentType) all['content-type'] = contentType;
    if (!Object.keys(all).some((name) => name.toLowerCase() === 'content-length')) {
      all['content-length'] = native.bytesOfBase64(encodedBody(body)).byteLength;
    }
    return this.decide('Fetch.fulfillRequest', { responseCode: status, responseHeaders: headerEntries(all), body: encodedBody(body) });
  }
}

/** Creates a function that tests whether a URL matches a string with `*` and `**`, or a regular expression. */
function urlMatcher(wanted) {
  if (wanted instanceof RegExp) return (url) => new RegExp(wanted.source, wanted.flags.replace(/[gy]/g, '')).test(url);
  const text = String(wanted);
  if (text === '') return () => true;
  if (!/[*?{]/.test(text)) return (url) => url === text || url === `${text}/`;
  const pattern = text.replace(/\*\*|\*|\?|[\\^$.|+()[\]]|\{[^{}]*\}/g, (part) => {
    if (part === '**') return '.*';
    if (part === '*') return '[^/]*';
    if (part === '?') return '\\?';
    if (part.startsWith('{')) {
      const choices = part.slice(1, -1).split(',').map((choice) => choice.replace(/[\\^$.|+()[\]*?]/g, '\\$&'));
      return `(?:${choices.join('|')})`;
    }
    return `\\${part}`;
  });
  const expression = new RegExp(`^${pattern}$`);
  return (url) => expression.test(url);
}
