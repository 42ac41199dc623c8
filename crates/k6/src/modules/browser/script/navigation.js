// Navigation: starts one, and waits for its outcome.

/** The lifecycle events of a document, as scripts name them. */
const LIFE = { load: 'load', domcontentloaded: 'DOMContentLoaded', networkidle: 'networkIdle' };

function lifeEvent(state, what) {
  const event = LIFE[state ?? 'load'];
  if (!event) throw new Error(`${what}: "${state}" is not one of load, domcontentloaded and networkidle`);
  return event;
}

const navigationTimeout = (options, page) =>
  (options?.timeout === undefined || options.timeout === null ? page.navigationTimeout() : Number(options.timeout));

/** Waits until the document that replaces the current one has reached a state. */
function waitForDocument(frame, options, what) {
  const wanted = lifeEvent(options?.waitUntil, what);
  return frame.owner.session.wait(['lifecycle'], (event) =>
    (event.frame === frame && frame.lifecycle.has(wanted) ? true : undefined), navigationTimeout(options, frame.owner), what);
}

/** Loads a URL. Returns the response for the document, or null if there was none. */
async function navigate(frame, url, options) {
  const page = frame.owner;
  const what = `navigating to "${url}"`;
  const wanted = lifeEvent(options?.waitUntil, what);
  const timeout = navigationTimeout(options, page);
  const deadline = Date.now() + (timeout > 0 ? timeout : PATIENT);
  if (frame === page.main) await page.flushVitals();
  let answer = null;
  const stopWatching = page.session.on('response', (response) => {
    if (response.request_.isNavigation && response.request_.frame_ === frame) answer = response;
  });
  try {
    let result;
    try {
      result = await page.session.send('Page.navigate', { url: String(url), referrer: options?.referer, frameId: frame.id },
        timeout > 0 ? timeout : undefined);
    } catch (error) {
      if (!(error instanceof TimedOut)) throw new Error(`${what}: ${error.message}`);
      page.session.tell('Page.stopLoading');
      throw new TimedOut(`${what}: timed out after ${timeout}ms`);
    }
    if (result.errorText) {
      // A download, or a response without content, leaves the page unchanged.
      throw new Error(`${what}: ${result.errorText}`);
    }
    if (result.loaderId === undefined) return null;
    await arrival(frame, result.loaderId, wanted, Math.max(deadline - Date.now(), 1), what, timeout);
    return answer?.request_.documentId === result.loaderId ? answer : null;
  } finally {
    stopWatching();
  }
}

/** Waits until the document with that loader, or one that has replaced it, has reached a state. */
function arrival(frame, loader, wanted, left, what, timeout) {
  let seen = frame.loader === loader;
  const check = () => {
    seen ||= frame.loader === loader;
    return frame.detached || (seen && frame.lifecycle.has(wanted)) ? true : undefined;
  };
  if (check()) return undefined;
  return frame.owner.session.wait(['lifecycle'], check, left, what).catch((error) => {
    if (error instanceof TimedOut) throw new TimedOut(`${what}: timed out after ${timeout}ms`);
    throw error;
  });
}

async function waitForLoadState(frame, state, options) {
  const what = 'waitForLoadState';
  const wanted = lifeEvent(state, what);
  if (frame.lifecycle.has(wanted)) return;
  await frame.owner.session.wait(['lifecycle'], () => (frame.lifecycle.has(wanted) ? true : undefined),
    navigationTimeout(options, frame.owner), `${what} "${state ?? 'load'}"`);
}

/** Waits for the frame's next navigation. Returns the response, or null for a navigation within the document. */
async function waitForNavigation(frame, options) {
  const what = 'waiting for navigation';
  const wanted = lifeEvent(options?.waitUntil, what);
  const { session } = frame.owner;
  const matches = options?.url === undefined ? () => true : urlMatcher(options.url);
  const timeout = navigationTimeout(options, frame.owner);
  const deadline = Date.now() + (timeout > 0 ? timeout : PATIENT);
  const responses = new Map();
  const stopWatching = session.on('response', (response) => {
    if (response.request_.isNavigation && response.request_.frame_ === frame) responses.set(response.request_.documentId, response);
  });
  try {
    const { loader } = await session.wait(['navigated'], (event) =>
      (event.frame === frame && matches(frame.url_) ? event : undefined), timeout, what);
    // Navigation within the document loads nothing.
    if (loader === undefined) return null;
    await arrival(frame, loader, wanted, Math.max(deadline - Date.now(), 1), what, timeout);
    return responses.get(loader) ?? null;
  } finally {
    stopWatching();
  }
}

async function waitForURL(frame, url, options) {
  const matches = urlMatcher(url);
  if (matches(frame.url_)) {
    await waitForLoadState(frame, options?.waitUntil, options);
    return;
  }
  await waitForNavigation(frame, { ...options, url });
}

/** Goes back or forward in the history. Returns null if the history has no entry there. */
async function goInHistory(page, step, options) {
  const { currentIndex, entries } = await page.session.send('Page.getNavigationHistory');
  const entry = entries[currentIndex + step];
  if (!entry) return null;
  await page.flushVitals();
  const arrived = waitForNavigation(page.main, options);
  arrived.catch(() => {});
  await page.session.send('Page.navigateToHistoryEntry', { entryId: entry.id });
  return arrived;
}
