// Browser contexts, the browser, and the module's exports.

const PERMISSIONS = {
  'accessibility-events': 'accessibilityEvents', accelerometer: 'sensors', 'ambient-light-sensor': 'sensors',
  'background-sync': 'backgroundSync', camera: 'videoCapture', 'clipboard-read': 'clipboardReadWrite',
  'clipboard-write': 'clipboardSanitizedWrite', geolocation: 'geolocation', gyroscope: 'sensors', microphone: 'audioCapture',
  midi: 'midi', 'midi-sysex': 'midiSysex', notifications: 'notifications', 'payment-handler': 'paymentHandler',
};

class BrowserContext {
  constructor(own, id, options) {
    this.wire = own;
    this.id = id;
    this.options = options;
    this.pages_ = new Set();
    this.initScripts = [];
    /** The targets of all pages, including those that have ended. */
    this.known = new Set();
    /** Settles when no page is being created. */
    this.creating = undefined;
    /** Whether Chromium reports pages that other pages open, and the last page that opened one. */
    this.discovers = false;
    this.lastOpener = null;
    this.timeouts = {};
    this.events = new Emitter();
    this.closed = false;
  }

  browser() {
    return browser;
  }

  pages() {
    return [...this.pages_];
  }

  async newPage() {
    if (this.closed) throw new Error('the browser context is closed');
    const created = this.wire.root.send('Target.createTarget', { url: 'about:blank', browserContextId: this.id })
      .then(({ targetId }) => {
        this.known.add(targetId);
        return targetId;
      });
    this.creating = Promise.allSettled([this.creating, created]);
    return this.follow(await created, null);
  }

  /** Follows pages that other pages open. Chromium need not report them until a page opens the first one. */
  followPopups(opener) {
    this.lastOpener = opener;
    if (this.discovers) return;
    this.discovers = true;
    const { root } = this.wire;
    root.on('Target.targetCreated', ({ targetInfo }) => {
      this.popup(targetInfo).catch((error) => {
        if (!(error instanceof Closed)) native.log('warn', `cannot follow a page that was opened: ${error.message}`);
      });
    });
    root.tell('Target.setDiscoverTargets', { discover: true });
  }

  async popup({ type, targetId, openerId, browserContextId }) {
    if (type !== 'page' || browserContextId !== this.id) return;
    // Chromium may report a page created by `newPage` before it responds with the page's identifier.
    await this.creating;
    if (this.known.has(targetId)) return;
    this.known.add(targetId);
    await this.follow(targetId, this.pages().find((page) => page.targetId === openerId) ?? this.lastOpener);
  }

  async follow(targetId, opener) {
    const { sessionId } = await this.wire.root.send('Target.attachToTarget', { targetId, flatten: true });
    const page = await Page.attach(this, sessionId, targetId, opener);
    this.events.emit('page', page);
    return page;
  }

  async close() {
    if (this.closed) return;
    await Promise.all(this.pages().map((page) => page.flushVitals()));
    this.closed = true;
    this.wire.contexts = this.wire.contexts.filter((context) => context !== this);
    await this.wire.root.send('Target.disposeBrowserContext', { browserContextId: this.id });
    for (const page of this.pages()) this.wire.detached(page.session.id);
  }

  async addInitScript(script) {
    const source = typeof script === 'function'
      ? `(${functionText(script, 'addInitScript')})()`
      : String(typeof script === 'object' && script !== null ? script.content ?? '' : script);
    this.initScripts.push(source);
    await this.each((page) => page.session.send('Page.addScriptToEvaluateOnNewDocument', { source }));
  }

  /** Calls a function with every page. */
  each(work) {
    return Promise.all(this.pages().map(work));
  }

  async addCookies(cookies) {
    if (!Array.isArray(cookies)) throw new TypeError('addCookies requires a list of cookies');
    for (const { name, url, domain, path } of cookies) {
      if (!name) throw new Error('addCookies: a cookie requires a name');
      if (!url && !(domain && path)) throw new Error(`addCookies: the cookie "${name}" requires a url, or a domain and a path`);
    }
    await this.wire.root.send('Storage.setCookies', {
      browserContextId: this.id,
      cookies: cookies.map(({ name, value, url, domain, path, expires, httpOnly, secure, sameSite }) => ({
        name, value: String(value), url, domain, path, httpOnly, secure, sameSite,
        expires: expires === undefined || expires < 0 ? undefined : Number(expires),
      })),
    });
  }

  async clearCookies() {
    await this.wire.root.send('Storage.clearCookies', { browserContextId: this.id });
  }

  async cookies(...given) {
    const { cookies } = await this.wire.root.send('Storage.getCookies', { browserContextId: this.id });
    const urls = given.flat().map(addressOf);
    return cookies.filter((cookie) => urls.length === 0 || urls.some((url) => isSentTo(cookie, url))).map((cookie) => ({
      name: cookie.name, value: cookie.value, domain: cookie.domain, path: cookie.path,
      expires: cookie.session ? -1 : cookie.expires, httpOnly: cookie.httpOnly, secure: cookie.secure, sameSite: cookie.sameSite ?? '', url: '',
    }));
  }

  async clearPermissions() {
    await this.wire.root.send('Browser.resetPermissions', { browserContextId: this.id });
  }

  async grantPermissions(permissions, { origin } = {}) {
    const known = permissions.map((name) => {
      if (!PERMISSIONS[name]) throw new Error(`grantPermissions: unknown permission "${name}"`);
      return PERMISSIONS[name];
    });
    await this.wire.root.send('Browser.grantPermissions', { origin, browserContextId: this.id, permissions: known });
  }

  setDefaultNavigationTimeout(timeout) {
    this.timeouts.navigation = Number(timeout);
  }

  setDefaultTimeout(timeout) {
    this.timeouts.all = Number(timeout);
  }

  async setGeolocation(geolocation) {
    this.options.geolocation = geolocation;
    await this.each((page) => page.session.send('Emulation.setGeolocationOverride', geolocation ?? {}));
  }

  async setOffline(offline) {
    this.options.offline = Boolean(offline);
    await this.each((page) => page.setOffline(Boolean(offline)));
  }

  async waitForEvent(event, given) {
    if (event !== 'page') throw new Error(`waitForEvent: a browser context has the event "page" only, not "${event}"`);
    return waitForEvent(this.events, event, given, this.timeouts.all ?? DEFAULT_TIMEOUT);
  }
}

/** The parts of a URL that decide which cookies apply. */
function addressOf(url) {
  const parts = /^(https?|wss?):\/\/(?:[^/@]*@)?(\[[^\]]*\]|[^/:?#]*)(?::\d+)?([^?#]*)/.exec(String(url));
  if (!parts) throw new Error(`cookies: "${url}" is not a URL`);
  return { isSecure: parts[1].endsWith('s'), host: parts[2].toLowerCase(), path: parts[3] || '/' };
}

function isSentTo({ domain, path, secure }, url) {
  const host = domain.replace(/^\./, '');
  const isHost = url.host === host || (domain.startsWith('.') && url.host.endsWith(`.${host}`));
  const isPath = url.path === path || url.path.startsWith(path.endsWith('/') ? path : `${path}/`);
  return isHost && isPath && (!secure || url.isSecure || host === 'localhost' || host === '127.0.0.1');
}

const CONTEXT_OPTIONS = [
  'acceptDownloads', 'baseURL', 'bypassCSP', 'colorScheme', 'deviceScaleFactor', 'extraHTTPHeaders', 'geolocation', 'hasTouch',
  'httpCredentials', 'ignoreHTTPSErrors', 'isMobile', 'javaScriptEnabled', 'locale', 'offline', 'permissions', 'reducedMotion',
  'screen', 'timezoneID', 'timezoneId', 'userAgent', 'viewport', 'name',
];

class Browser {
  /** The only context, as in k6. */
  context() {
    return (native.isConnected() && wire?.contexts[0]) || null;
  }

  async closeContext() {
    const context = this.context();
    if (!context) throw new Error('cannot close context as none is active in browser');
    await context.close();
  }

  isConnected() {
    return native.isConnected() && !wire?.failure;
  }

  async newContext(options) {
    const own = connected();
    if (own.contexts.length > 0) throw new Error('existing browser context must be closed before creating a new one');
    for (const name of Object.keys(options ?? {})) {
      if (!CONTEXT_OPTIONS.includes(name)) native.log('warn', `newContext: unknown option "${name}"`);
    }
    // Reserve the context immediately, so that a second call fails.
    const context = new BrowserContext(own, undefined, { ...options });
    own.contexts.push(context);
    try {
      const { browserContextId } = await own.root.send('Target.createBrowserContext', { disposeOnDetach: true });
      context.id = browserContextId;
    } catch (error) {
      own.contexts = [];
      throw error;
    }
    if (options?.permissions) await context.grantPermissions(options.permissions);
    return context;
  }

  async newPage(options) {
    const context = await this.newContext(options);
    return context.newPage();
  }

  userAgent() {
    return connected().userAgent;
  }

  version() {
    return connected().version.product.replace(/^[^/]*\//, '');
  }
}

unsupported(Browser, ['contexts', 'close', 'on', 'newBrowserCDPSession', 'startTracing', 'stopTracing', 'browserType']);
unsupported(BrowserContext, [
  'backgroundPages', 'exposeBinding', 'exposeFunction', 'newCDPSession', 'on', 'route', 'routeFromHAR', 'serviceWorkers',
  'setExtraHTTPHeaders', 'setHTTPCredentials', 'storageState', 'tracing', 'unroute', 'unrouteAll',
]);
unsupported(Frame, ['addScriptTag', 'addStyleTag', 'dragAndDrop', 'frameLocator', '$eval', '$$eval']);
unsupported(Locator, [
  'allInnerTexts', 'allTextContents', 'and', 'ariaSnapshot', 'blur', 'describe', 'dragTo', 'elementHandle', 'elementHandles',
  'evaluateAll', 'frameLocator', 'highlight', 'or', 'page', 'screenshot', 'scrollIntoViewIfNeeded', 'selectText', 'setInputFiles',
]);
unsupported(FrameLocator, ['first', 'frameLocator', 'last', 'nth', 'owner']);
unsupported(ElementHandle, ['$eval', '$$eval']);
unsupported(Request, ['postDataJSON', 'redirectedFrom', 'redirectedTo', 'serviceWorker', 'sizes']);
unsupported(Response, ['fromServiceWorker']);
unsupported(Route, ['fallback', 'fetch']);
unsupported(Mouse, ['wheel']);
unsupported(Worker, ['evaluate', 'evaluateHandle', 'on']);

const browser = new Browser();

const chromium = {
  async connectOverCDP(endpoint) {
    if (typeof endpoint !== 'string' || endpoint === '') throw new TypeError('connectOverCDP requires the address of a browser');
    wire = new Wire(JSON.parse(native.connect(endpoint)).result);
    const connectedTo = Object.create(browser);
    connectedTo.close = async () => {
      for (const context of [...wire.contexts]) await context.close();
    };
    return connectedTo;
  },
};
