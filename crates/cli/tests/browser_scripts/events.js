// Requests, responses, routes, the console, new pages, and the options of a context.
import { browser } from 'k6/browser';
import { expect, finish } from './expect.js';

export const options = {
  scenarios: { ui: { executor: 'shared-iterations', vus: 1, iterations: 1, options: { browser: { type: 'chromium' } } } },
};
const BASE = __ENV.PAGES;

export default async function () {
  const page = await browser.newPage({
    userAgent: 'Own agent', locale: 'de-DE', timezoneID: 'Asia/Tokyo', colorScheme: 'dark', extraHTTPHeaders: { 'x-all': 'yes' },
    viewport: { width: 500, height: 400 }, httpCredentials: { username: 'user', password: 'secret' },
  });
  await expect('options', ['Own agent', 'de-DE', 'Asia/Tokyo', true, 500], () => page.evaluate(() => [
    navigator.userAgent, navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone,
    matchMedia('(prefers-color-scheme: dark)').matches, innerWidth,
  ]));
  await expect('credentials', [200, 'yes'], async () => {
    const response = await page.goto(`${BASE}/private`);
    const headers = await (await page.goto(`${BASE}/headers`)).json();
    return [response.status(), headers['x-all']];
  });
  await page.goto(`${BASE}/`);
  await expect('a response', [200, 'text', '{"a":1}', 1, 'application/json', '127.0.0.1', true, 'GET', null, 'fetch', false], async () => {
    const [response] = await Promise.all([page.waitForResponse(/\/json$/), page.evaluate(() => { fetch('/json'); })]);
    const request = response.request();
    const body = await response.text();
    return [
      response.status(), typeof body === 'string' ? 'text' : 'other', body, (await response.json()).a,
      await response.headerValue('Content-Type'), (await response.serverAddr()).ipAddress, request.timing().responseEnd > 0,
      request.method(), request.postData(), request.resourceType(), request.isNavigationRequest(),
    ];
  });
  await expect('a request', ['POST', 'data', 'yes'], async () => {
    const [request] = await Promise.all([
      page.waitForRequest('**/echo'), page.evaluate(() => { fetch('/echo', { method: 'POST', body: 'data' }); }),
    ]);
    return [request.method(), request.postData(), (await request.allHeaders())['x-all']];
  });
  await expect('listeners', ['log a 1 {"x":1}', 'request', 'response 200', 'finished', 'failed net::ERR_CONNECTION_REFUSED'], async () => {
    const seen = [];
    page.on('console', (message) => seen.push(`${message.type()} ${message.text()}`));
    page.on('request', (request) => { if (request.url().endsWith('/json')) seen.push('request'); });
    page.on('response', (response) => { if (response.url().endsWith('/json')) seen.push(`response ${response.status()}`); });
    page.on('requestfinished', (request) => { if (request.url().endsWith('/json')) seen.push('finished'); });
    // Ignore the preflight request.
    page.on('requestfailed', (request) => { if (request.method() === 'GET') seen.push(`failed ${request.failure().errorText}`); });
    await page.evaluate(async (closed) => {
      console.log('a', 1, { x: 1 });
      await (await fetch('/json')).text();
      await fetch(closed).catch(() => {});
    }, __ENV.CLOSED);
    await page.waitForTimeout(50);
    return seen;
  });
  await expect('waitForEvent', 'wanted', async () => {
    const [message] = await Promise.all([
      page.waitForEvent('console', { predicate: (each) => each.text() === 'wanted', timeout: 2000 }),
      page.evaluate(() => setTimeout(() => { console.log('other'); console.log('wanted'); }, 20)),
    ]);
    return message.text();
  });
  await expect('an unknown event', /unknown page on event: "nothing"/, () => page.on('nothing', () => {}));
  await expect('fulfill', [201, { b: 2 }], async () => {
    await page.route(/\/json/, (route) => route.fulfill({ status: 201, body: '{"b":2}', contentType: 'application/json' }));
    const response = await page.goto(`${BASE}/json`);
    await page.unrouteAll();
    return [response.status(), await response.json()];
  });
  await page.goto(`${BASE}/second`);
  await expect('abort', 'failed', async () => {
    await page.route('**/echo', (route) => route.abort('blockedbyclient'));
    const result = await page.evaluate(() => fetch('/echo').then((response) => response.text(), () => 'failed'));
    await page.unroute('**/echo');
    return result;
  });
  await expect('continue', 'PUT changed', async () => {
    await page.route('**/echo', (route) => route.continue({ method: 'PUT', postData: 'changed', headers: { 'x-b': 'c' } }));
    const result = await page.evaluate(() => fetch('/echo', { method: 'POST', body: 'x' }).then((response) => response.text()));
    await page.unrouteAll();
    return result;
  });
  await expect('a handler without a decision', 'GET ', async () => {
    await page.route('**/echo', () => {});
    const result = await page.evaluate(() => fetch('/echo').then((response) => response.text()));
    await page.unrouteAll();
    return result;
  });
  for (const [name, selector] of [['window.open', '#opener'], ['a link', '#blank']]) {
    await expect(name, [`${BASE}/second`, 'Second', 2], async () => {
      await page.goto(`${BASE}/`);
      const [opened] = await Promise.all([page.context().waitForEvent('page'), page.locator(selector).click()]);
      await opened.waitForLoadState();
      const result = [opened.url(), await opened.title(), page.context().pages().length];
      await opened.close();
      return result;
    });
  }
  await expect('workers', [[], [`${BASE}/worker.js`], []], async () => {
    const urls = () => page.workers().map((worker) => worker.url());
    await page.goto(`${BASE}/`);
    const before = urls();
    await page.evaluate(() => { globalThis.worker = new Worker('/worker.js'); });
    await page.waitForTimeout(500);
    const during = urls();
    await page.evaluate(() => globalThis.worker.terminate());
    await page.waitForTimeout(500);
    return [before, during, urls()];
  });
  await expect('not supported', /Page\.pdf is not supported/, () => page.pdf());
  await expect('no method', /fooBar/, () => page.fooBar());
  await page.close();
  finish();
}
