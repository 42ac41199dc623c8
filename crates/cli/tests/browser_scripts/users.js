// Several users with several iterations. Each user has its own cookies, and pages that are left open are closed.
import { browser } from 'k6/browser';
import exec from 'k6/execution';

export const options = {
  scenarios: {
    ui: { executor: 'per-vu-iterations', vus: 3, iterations: 2, options: { browser: { type: 'chromium' } } },
  },
};

export default async function () {
  const page = await browser.newPage();
  await page.goto(`${__ENV.PAGES}/`);
  const before = (await page.context().cookies()).length;
  await page.context().addCookies([{ name: 'own', value: String(exec.vu.idInTest), url: __ENV.PAGES }]);
  const { cookie } = await (await page.goto(`${__ENV.PAGES}/headers`)).json();
  console.log(`USER ${before} ${cookie === `own=${exec.vu.idInTest}`} ${page.context().pages().length}`);
}
