// The methods that scripts use most, and their results.
import { browser } from 'k6/browser';
import { expect, finish } from './expect.js';

export const options = {
  scenarios: { ui: { executor: 'shared-iterations', vus: 1, iterations: 1, options: { browser: { type: 'chromium' } } } },
};
const BASE = __ENV.PAGES;

export default async function () {
  await expect('no context', null, () => browser.context());
  const page = await browser.newPage();
  await expect('browser', [true, true, true], () => [browser.isConnected(), /^\d+\./.test(browser.version()), /Chrome/.test(browser.userAgent())]);
  await expect('goto', [200, `${BASE}/`, 'OK', true], async () => {
    const response = await page.goto(`${BASE}/`);
    return [response.status(), response.url(), response.statusText(), response.ok()];
  });
  await expect('title', 'Home', () => page.title());
  await expect('url', `${BASE}/`, () => page.url());
  await expect('content', true, async () => (await page.content()).startsWith('<!DOCTYPE html><html>'));
  await readings(page);
  await inputs(page);
  await locators(page);
  await evaluation(page);
  await frames(page);
  await handles(page);
  await navigation(page);
  await settings(page);
  await page.close();
  await expect('closed', true, () => page.isClosed());
  await expect('a second context', /existing browser context must be closed/, () => browser.newContext());
  await browser.closeContext();
  await expect('context', null, () => browser.context());
  finish();
}

async function readings(page) {
  await expect('textContent', 'Hello', () => page.locator('h1').textContent());
  await expect('innerText', 'Hello', () => page.innerText('h1'));
  await expect('innerHTML', 'marked', () => page.locator('[data-testid=marked]').innerHTML());
  await expect('getAttribute', '/second', () => page.locator('#link').getAttribute('href'));
  await expect('no attribute', null, () => page.getAttribute('#link', 'none'));
  await expect('inputValue', 'old', () => page.inputValue('#disabled'));
  await expect('states', [true, false, false, true, false, true, false, true, false], async () => [
    await page.isVisible('h1'), await page.isHidden('h1'), await page.isVisible('#hidden'), await page.locator('#hidden').isHidden(),
    await page.isVisible('#none'), await page.locator('#disabled').isDisabled(), await page.isEnabled('#disabled'),
    await page.locator('#name').isEditable(), await page.isChecked('#agree'),
  ]);
  await expect('boundingBox', [20, 20], async () => {
    const { width, height } = await page.locator('img').boundingBox();
    return [width, height];
  });
  await expect('screenshot', true, async () => (await page.screenshot({ path: `${__ENV.FOLDER}/deep/page.png`, fullPage: true })).byteLength > 1000);
  await expect('screenshot of an element', true, async () => (await (await page.$('h1')).screenshot({ type: 'jpeg', quality: 50 })).byteLength > 100);
}

async function inputs(page) {
  const output = () => page.textContent('#output');
  await expect('click', 'clicked 1', async () => { await page.locator('#button').click(); return output(); });
  await expect('dblclick', 'clicked 3', async () => { await page.dblclick('#button'); return output(); });
  await expect('tap', 'clicked 4', async () => { await page.tap('#button'); return output(); });
  await expect('dispatchEvent', 'clicked 5', async () => { await page.locator('#button').dispatchEvent('click'); return output(); });
  await expect('mouse', 'clicked 6', async () => {
    const { x, y, width, height } = await page.locator('#button').boundingBox();
    await page.mouse.click(x + width / 2, y + height / 2);
    return output();
  });
  await expect('trial', 'clicked 6', async () => { await page.locator('#button').click({ trial: true }); return output(); });
  await expect('fill', 'abc', async () => { await page.locator('#name').fill('abc'); return page.inputValue('#name'); });
  await expect('type', 'abcXy +Z é!', async () => { await page.locator('#name').type('Xy +Z é!'); return page.inputValue('#name'); });
  await expect('press', 'abcXy +Z é', async () => { await page.locator('#name').press('Backspace'); return page.inputValue('#name'); });
  await expect('combination', '', async () => {
    await page.press('#name', 'Control+a');
    await page.keyboard.press('Delete');
    return page.inputValue('#name');
  });
  await expect('keyboard', 'Ab', async () => {
    await page.focus('#name');
    await page.keyboard.down('Shift');
    await page.keyboard.press('a');
    await page.keyboard.up('Shift');
    await page.keyboard.insertText('b');
    return page.inputValue('#name');
  });
  await expect('clear', '', async () => { await page.locator('#name').clear(); return page.locator('#name').inputValue(); });
  await expect('textarea', 'two\nlines', async () => { await page.locator('#text').fill('two\nlines'); return page.inputValue('#text'); });
  await expect('check', [true, false, true], async () => {
    const results = [];
    await page.locator('#agree').check();
    results.push(await page.isChecked('#agree'));
    await page.uncheck('#agree');
    results.push(await page.isChecked('#agree'));
    await page.locator('#agree').setChecked(true);
    results.push(await page.locator('#agree').isChecked());
    return results;
  });
  await expect('selectOption', ['b'], () => page.selectOption('#one', 'b'));
  await expect('selectOption by label', ['a'], () => page.locator('#one').selectOption({ label: 'Alpha' }));
  await expect('selectOption by index', ['b'], () => page.locator('#one').selectOption({ index: 1 }));
  await expect('several options', ['x', 'z'], () => page.selectOption('#several', ['x', 'z']));
  await expect('setInputFiles', ['a.txt', 'hey'], async () => {
    await page.setInputFiles('#file', { name: 'a.txt', mimeType: 'text/plain', buffer: new Uint8Array([104, 101, 121]).buffer });
    return page.evaluate(async () => { const [first] = document.querySelector('#file').files; return [first.name, await first.text()]; });
  });
  await expect('hover', true, async () => {
    await page.locator('#button').hover();
    return page.evaluate(() => document.querySelector('#button').matches(':hover'));
  });
  await expect('a button that moves before the press', [{ moving: 1, never: 0, document: 1 }, 'timed out after 1500ms'], async () => {
    const other = await page.context().newPage();
    await other.goto(`${BASE}/moving`);
    await other.locator('#moving').click();
    const outcome = await other.locator('#never').click({ timeout: 1500 }).then(() => 'pressed', (error) => error.message);
    const presses = await other.evaluate(() => presses);
    await other.close();
    return [presses, outcome.match(/timed out after 1500ms/)?.[0] ?? outcome];
  });
  // A dialog closes on its own.
  await expect('dialog', 'false', async () => { await page.locator('#dialog').click(); return output(); });
}

async function locators(page) {
  await expect('count', 3, () => page.locator('li').count());
  await expect('nth', 'two', () => page.locator('li').nth(1).innerText());
  await expect('first and last', ['one', 'three'], async () => [await page.locator('li').first().textContent(), await page.locator('li').last().textContent()]);
  await expect('all', ['one', 'two', 'three'], async () => {
    const texts = [];
    for (const each of await page.locator('li').all()) texts.push(await each.textContent());
    return texts;
  });
  await expect('chained', 'two', () => page.locator('ul').locator('li:nth-child(2)').textContent());
  await expect('filter', 'two', () => page.locator('li').filter({ hasText: 'tw' }).textContent());
  await expect('hasNotText', 2, () => page.locator('li', { hasNotText: 'two' }).count());
  await expect('xpath', 'two', () => page.locator('//li[2]').textContent());
  await expect('getByRole', [1, 'Press me', 1, 1], async () => [
    await page.getByRole('button', { name: 'Press me' }).count(), await page.getByRole('button', { name: /^press/i }).textContent(),
    await page.getByRole('heading', { level: 1 }).count(), await page.getByRole('checkbox', { checked: true }).count(),
  ]);
  await expect('getByText', ['late text', 1, 0], async () => [
    await page.getByText('late text').textContent(), await page.getByText('HELLO').count(), await page.getByText('hell', { exact: true }).count(),
  ]);
  await expect('getByLabel', 'name', () => page.getByLabel('Name').getAttribute('id'));
  await expect('getByPlaceholder', 'name', () => page.getByPlaceholder('Your').getAttribute('id'));
  await expect('getByTitle', 'name', () => page.getByTitle(/field$/).getAttribute('id'));
  await expect('getByAltText', '/picture.svg', () => page.getByAltText('picture').getAttribute('src'));
  await expect('getByTestId', 'marked', () => page.getByTestId('marked').textContent());
  await expect('strict', /strict mode violation/, () => page.locator('li').click({ timeout: 500 }));
  await expect('waitFor', undefined, () => page.locator('#hidden').waitFor({ state: 'hidden' }));
  await expect('waitForSelector', 'late text', async () => (await page.waitForSelector('#late span')).textContent());
  await expect('evaluate of a locator', 'button!', () => page.locator('#button').evaluate((element, more) => element.id + more, '!'));
}

async function evaluation(page) {
  await expect('evaluate', '3Home', () => page.evaluate((a) => a.x + a.y + document.title, { x: 1, y: 2 }));
  await expect('evaluate of a text', 2, () => page.evaluate('1 + 1'));
  await expect('evaluate of a promise', 5, () => page.evaluate(async () => Promise.resolve(5)));
  await expect('evaluate that throws', /boom/, () => page.evaluate(() => { throw new Error('boom'); }));
  await expect('waitForFunction', 7, async () => {
    const handle = await page.waitForFunction(() => window.count7 || (window.count7 = 7), { timeout: 2000 });
    return handle.jsonValue();
  });
  await expect('waitForFunction without success', /timed out/, () => page.waitForFunction(() => false, { timeout: 300 }));
  await expect('evaluateHandle', [1, ['a', 'b']], async () => {
    const handle = await page.evaluateHandle(() => ({ a: 1, b: document.body }));
    return [await handle.evaluate((object) => object.a), [...(await handle.getProperties()).keys()]];
  });
}

async function frames(page) {
  await expect('frames', [2, 'inner', `${BASE}/frame`, true], async () => {
    const [main, inner] = page.frames();
    return [page.frames().length, inner.name(), inner.url(), main === page.mainFrame()];
  });
  await expect('contentFrame', 'Done', async () => {
    const inside = page.locator('iframe').contentFrame().locator('#inside');
    await inside.click();
    return inside.textContent();
  });
  await expect('frame', ['Frame', 'Done'], async () => {
    const [, inner] = page.frames();
    return [await inner.title(), await inner.textContent('#inside')];
  });
}

async function handles(page) {
  await expect('$', ['Press me', true], async () => {
    const element = await page.$('#button');
    await element.click();
    return [await element.textContent(), await element.isVisible()];
  });
  await expect('no element', null, () => page.$('#none'));
  await expect('$$', 3, async () => (await page.$$('li')).length);
  await expect('inside', 'two', async () => (await (await page.$('ul')).$('li:nth-child(2)')).textContent());
  await expect('content frame', 'inner', async () => (await (await page.$('iframe')).contentFrame()).name());
}

async function navigation(page) {
  await expect('click and wait', [200, `${BASE}/second`, 'Second'], async () => {
    const [response] = await Promise.all([page.waitForNavigation(), page.locator('#link').click()]);
    return [response.status(), page.url(), await page.title()];
  });
  await expect('goBack', `${BASE}/`, async () => { await page.goBack(); return page.url(); });
  await expect('goForward', `${BASE}/second`, async () => { await page.goForward(); return page.url(); });
  await expect('reload', 200, async () => (await page.reload()).status());
  await expect('click that navigates', 'Press me', async () => { await page.click('button'); return page.locator('#button').textContent(); });
  await expect('redirect', [200, `${BASE}/second`], async () => {
    const response = await page.goto(`${BASE}/redirect`, { waitUntil: 'networkidle' });
    return [response.status(), response.url()];
  });
  await expect('not found', [404, false], async () => {
    const response = await page.goto(`${BASE}/none`);
    return [response.status(), response.ok()];
  });
  await expect('waitForURL', `${BASE}/second`, async () => {
    await page.goto(`${BASE}/`);
    await Promise.all([page.waitForURL(/second$/), page.click('#link')]);
    return page.url();
  });
  await expect('waitForLoadState', undefined, () => page.waitForLoadState('networkidle'));
  await expect('setContent', 'new', async () => { await page.setContent('<p>new</p>'); return page.textContent('p'); });
  await expect('about:blank', null, () => page.goto('about:blank'));
}

async function settings(page) {
  const context = page.context();
  await page.goto(`${BASE}/`);
  await expect('viewport', [[300, 400], [300, 400]], async () => {
    await page.setViewportSize({ width: 300, height: 400 });
    const { width, height } = page.viewportSize();
    return [[width, height], await page.evaluate(() => [window.innerWidth, window.innerHeight])];
  });
  await expect('cookies', [['a', 'b'], 0, 0], async () => {
    await context.addCookies([{ name: 'a', value: '1', url: BASE }, { name: 'b', value: '2', domain: '127.0.0.1', path: '/', httpOnly: true }]);
    const all = (await context.cookies()).map((cookie) => cookie.name).sort();
    const other = await context.cookies('http://other.test/');
    await context.clearCookies();
    return [all, other.length, (await context.cookies()).length];
  });
  await expect('headers', 'value', async () => {
    await page.setExtraHTTPHeaders({ 'x-own': 'value' });
    return (await (await page.goto(`${BASE}/headers`)).json())['x-own'];
  });
  await expect('emulateMedia', true, async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    return page.evaluate(() => window.matchMedia('(prefers-color-scheme: dark)').matches);
  });
  await expect('addInitScript', 'early', async () => {
    await context.addInitScript("window.added = 'early'");
    await page.reload();
    return page.evaluate(() => window.added);
  });
  await expect('throttling', undefined, async () => {
    await page.throttleCPU({ rate: 2 });
    await page.throttleNetwork({ latency: 1, download: -1, upload: -1 });
  });
}
