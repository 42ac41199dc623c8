// Pages that do not load, open dialogs, disappear or are busy.
import { browser } from 'k6/browser';
import { expect, finish } from './expect.js';

export const options = {
  scenarios: { ui: { executor: 'shared-iterations', vus: 1, iterations: 1, options: { browser: { type: 'chromium' } } } },
};
const BASE = __ENV.PAGES;

export default async function () {
  const page = await browser.newPage();
  await expect('no response', /timed out/, () => page.goto(`${BASE}/never`, { timeout: 300 }));
  await expect('no load event', /timed out/, () => page.goto(`${BASE}/slow`, { timeout: 300 }));
  await expect('but a document', 200, async () => (await page.goto(`${BASE}/slow`, { waitUntil: 'domcontentloaded' })).status());
  await expect('refused', /ERR_CONNECTION_REFUSED/, () => page.goto(__ENV.CLOSED));
  await expect('no element', /timed out/, () => page.locator('#none').click({ timeout: 300 }));
  await expect('an invalid selector', /not a valid selector/, () => page.click('[[', { timeout: 300 }));
  await expect('an invalid state', /waitUntil|not one of/, () => page.goto(BASE, { waitUntil: 'finished' }));
  await expect('an invalid key', /unknown/, () => page.keyboard.press('Hyper'));
  await page.goto(`${BASE}/`);
  await expect('disabled', /timed out/, () => page.locator('#disabled').fill('x', { timeout: 300 }));
  await expect('a dialog on leaving', `${BASE}/second`, async () => {
    await page.click('#button');
    await page.evaluate(() => { window.onbeforeunload = (event) => { event.preventDefault(); return 'stay'; }; });
    await page.goto(`${BASE}/second`);
    return page.url();
  });
  await expect('a dialog on loading', 'text', async () => {
    await page.setContent('<script>alert(1); prompt(2)</script><p>text</p>');
    return page.textContent('p');
  });
  await expect('a page that leaves while a locator waits', 'Second page', async () => {
    await page.goto(`${BASE}/`);
    await page.evaluate(() => { setTimeout(() => { location.href = '/second'; }, 50); });
    return page.getByRole('heading', { name: 'Second page' }).textContent();
  });
  await expect('a page that leaves while it computes', /navigat|context/i, async () => {
    await page.goto(`${BASE}/`);
    return page.evaluate(() => new Promise(() => { location.href = '/second'; }));
  });
  await expect('an element of an earlier page', /not attached/, async () => {
    await page.goto(`${BASE}/`);
    const element = await page.$('#button');
    await page.reload();
    await element.click({ timeout: 300 });
  });
  await expect('an element that is covered', /timed out/, async () => {
    await page.setContent('<button style="position:absolute">x</button><div style="position:absolute;width:500px;height:500px"></div>');
    await page.click('button', { timeout: 300 });
  });
  await expect('an element far below', 'clicked', async () => {
    await page.setContent('<div style="height:5000px"></div><button onclick="this.textContent=\'clicked\'">x</button>');
    await page.click('button');
    return page.textContent('button');
  });
  await expect('a frame far below', 'Done', async () => {
    await page.setContent(`<div style="height:3000px"></div><iframe src="${BASE}/frame" style="margin:77px;border:9px solid"></iframe>`);
    const button = page.locator('iframe').contentFrame().getByRole('button');
    await button.click();
    return button.textContent();
  });
  await expect('a shadow root', 'inside', async () => {
    await page.setContent('<div id="host"></div>');
    await page.evaluate(() => { document.querySelector('#host').attachShadow({ mode: 'open' }).innerHTML = '<b id="deep">inside</b>'; });
    return page.textContent('#deep');
  });
  await expect('a busy page', /timed out/, async () => {
    await page.setContent('<button>x</button>');
    await page.evaluate(() => { setTimeout(() => { for (;;); }, 20); });
    await page.waitForTimeout(100);
    await page.locator('button').click({ timeout: 300 });
  });
  await page.close();
  const [first, second] = await Promise.all([browser.context().newPage(), browser.context().newPage()]);
  await expect('two pages at once', ['clicked 1', 'clicked 1'], () => Promise.all([first, second].map(async (each) => {
    await each.goto(`${BASE}/`);
    await each.click('#button');
    return each.textContent('#output');
  })));
  await expect('a closed page', /closed/, async () => {
    await first.close();
    await first.title();
  });
  await second.close();
  finish();
}
