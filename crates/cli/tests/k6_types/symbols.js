// Prints which of the names in names.json exist.
import * as k6 from 'k6';
import * as browsers from 'k6/browser';
import * as crypto from 'k6/crypto';
import * as data from 'k6/data';
import * as encoding from 'k6/encoding';
import * as execution from 'k6/execution';
import * as csv from 'k6/experimental/csv';
import * as fs from 'k6/experimental/fs';
import * as streams from 'k6/experimental/streams';
import * as html from 'k6/html';
import * as http from 'k6/http';
import * as metrics from 'k6/metrics';
import * as grpc from 'k6/net/grpc';
import * as secrets from 'k6/secrets';
import source from 'k6/secrets';
import * as timers from 'k6/timers';
import * as websockets from 'k6/websockets';
import * as ws from 'k6/ws';

const modules = {
  k6, 'k6/browser': browsers, 'k6/crypto': crypto, 'k6/data': data, 'k6/encoding': encoding, 'k6/execution': execution, 'k6/experimental/csv': csv,
  'k6/experimental/fs': fs, 'k6/experimental/streams': streams, 'k6/html': html, 'k6/http': http, 'k6/metrics': metrics,
  'k6/net/grpc': grpc, 'k6/secrets': secrets, 'k6/timers': timers, 'k6/websockets': websockets, 'k6/ws': ws,
};
export const options = {
  scenarios: { default: { executor: 'shared-iterations', options: { browser: { type: 'chromium' } } } },
};
const wanted = JSON.parse(open('./names.json'));
const counter = new metrics.Counter('counter');
const metricsOf = { Metric: counter, Counter: counter, Gauge: counter, Rate: counter, Trend: counter };
const file = await fs.open('./names.json');
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');

async function browserValues() {
  const { browser, chromium, devices } = browsers;
  const page = await browser.newPage();
  const values = { Browser: browser, BrowserType: chromium, Page: page, BrowserContext: page.context(), Device: devices['Pixel 2'] };
  page.on('console', (message) => { values.ConsoleMessage = message; });
  page.on('metric', (message) => { values.MetricMessage = message; });
  await page.route('**', (route) => { values.Route = route; route.continue(); });
  values.Response = await page.goto(`${__ENV.BASE}/`);
  values.Request = values.Response.request();
  await page.setContent('<iframe srcdoc="x"></iframe>');
  await page.evaluate(() => {
    console.log('text');
    window.worker = new Worker(URL.createObjectURL(new Blob(['setInterval(() => {}, 1000)'])));
  });
  // Chromium reports the worker and the message some time later.
  for (let turn = 0; turn < 100 && !(page.workers().length > 0 && values.ConsoleMessage); turn++) {
    await page.waitForTimeout(100);
  }
  [values.Worker] = page.workers();
  values.Frame = page.mainFrame();
  values.Locator = page.locator('iframe');
  values.FrameLocator = values.Locator.contentFrame();
  values.ElementHandle = await page.$('iframe');
  values.JSHandle = await page.evaluateHandle(() => ({}));
  Object.assign(values, { Keyboard: page.keyboard, Mouse: page.mouse, Touchscreen: page.touchscreen });
  const connected = await chromium.connectOverCDP(__ENV.ENDPOINT);
  values.ConnectedBrowser = connected;
  return values;
}

async function values() {
  const page = html.parseHTML('<form id=f><input id=i name=n value=v></form>');
  const element = page.find('input').get(0);
  const response = http.get(`${__ENV.BASE}/set-cookie?a=b`, { cookies: { c: 'd' } });
  const cookies = Object.values(response.cookies)[0];
  let controller;
  const stream = new streams.ReadableStream({ start(given) { controller = given; } });
  const socket = new websockets.WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  const message = await new Promise((resolve) => {
    socket.onopen = () => socket.send('text');
    socket.onmessage = (event) => resolve(event);
  });
  socket.close();
  const failing = new websockets.WebSocket('ws://127.0.0.1:1');
  const error = await new Promise((resolve) => { failing.onerror = resolve; });
  let blocking;
  const connected = ws.connect(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`, (given) => { blocking = given; given.on('open', () => given.close()); });
  let failed;
  ws.connect(`${__ENV.BASE.replace('http', 'ws')}/ws/drop`, (given) => given.on('error', (reason) => { failed = reason; }));
  client.connect(__ENV.BASE.slice('http://'.length), { plaintext: true });
  const health = client.healthCheck();
  const call = client.invoke('cases.Cases/EchoWord', {});
  const calls = new grpc.Stream(client, 'cases.Cases/Chat');
  calls.end();
  const received = {};
  const counting = new grpc.Stream(client, 'cases.Cases/CountAndFail');
  await new Promise((resolve) => {
    counting.on('data', (data, metadata) => { received.metadata = metadata; });
    counting.on('error', (reason) => { received.error = reason; resolve(); });
    counting.write({ value: 2 });
    counting.end();
  });
  return {
    'k6/browser': await browserValues(),
    'k6/crypto': { Hasher: crypto.createHash('md5') },
    'k6/experimental/csv': { Parser: csv.Parser.prototype },
    'k6/experimental/fs': { File: file, FileInfo: await file.stat(), SeekMode: fs.SeekMode },
    'k6/experimental/streams': {
      ReadableStream: stream, ReadableStreamDefaultController: controller, ReadableStreamDefaultReader: stream.getReader(),
      CountQueuingStrategy: new streams.CountQueuingStrategy({ highWaterMark: 1 }),
    },
    'k6/html': {
      Selection: page, Element: element, Attribute: element.getAttributeNode('id'), FormValue: page.find('form').serializeArray()[0],
    },
    'k6/http': {
      Response: response, RefinedResponse: response, RequestCookie: response.request.cookies.c[0], ResponseCookie: cookies && cookies[0],
      FileData: http.file('a'), CookieJar: new http.CookieJar(),
    },
    'k6/metrics': metricsOf,
    'k6/net/grpc': {
      Client: client, Stream: calls, Response: call, HealthCheckResponse: health, GrpcError: received.error, StreamMessageMetadata: received.metadata,
    },
    'k6/secrets': { SecretSource: source.source('a') },
    'k6/websockets': { WebSocket: socket, Blob: new websockets.Blob(['a']), MessageEvent: message, ErrorEvent: error },
    'k6/ws': { Socket: blocking, Response: connected, WebSocketError: failed },
  };
}

export default async function () {
  const known = await values();
  const missing = [];
  for (const { module, owner, name } of wanted) {
    let value = owner ? (known[module] || {})[owner] : modules[module];
    // All elements have the same type.
    if (owner && value === undefined && module === 'k6/html' && owner.endsWith('Element')) value = known[module].Element;
    let exists = false;
    try { exists = value !== undefined && value !== null && (typeof value === 'object' || typeof value === 'function') && name in value; } catch (e) { console.error(e); }
    if (!exists) missing.push([module, owner ? owner + '.' + name : name].join(' '));
  }
  console.log('MISSING ' + JSON.stringify(missing));
}
