// A page: its frames, its events, and its methods.

const VITALS_WORLD = 'plimsoll vitals';
const VITALS_BINDING = 'plimsollVital';
const PAGE_EVENTS = ['console', 'metric', 'request', 'requestfailed', 'requestfinished', 'response'];

class Page {
  constructor(context, session, targetId, opener) {
    this.context_ = context;
    this.session = session;
    this.targetId = targetId;
    this.opener_ = opener ?? null;
    this.main = null;
    this.framesById = new Map();
    this.worlds = new Map();
    this.vitalsWorld = null;
    this.vitals = new Map();
    this.closed = false;
    this.viewport = context.options.viewport === null ? null : { width: 1280, height: 720, ...context.options.viewport };
    this.media = { colorScheme: context.options.colorScheme, reducedMotion: context.options.reducedMotion };
    this.timeouts = {};
    this.metricListeners = [];
    this.workers_ = new Map();
    this.keyboard = new Keyboard(this);
    this.mouse = new Mouse(this);
    this.touchscreen = new Touchscreen(this);
    this.network = new Network(this);
    this.follow();
  }

  /** Prepares a page before it loads anything. */
  static async attach(context, sessionId, targetId, opener) {
    const session = connected().session(sessionId);
    const page = new Page(context, session, targetId, opener);
    context.pages_.add(page);
    // The frames must be known before their events arrive.
    const [, { frameTree }] = await Promise.all([session.send('Page.enable'), session.send('Page.getFrameTree')]);
    page.addTree(frameTree, null);
    await Promise.all([
      session.send('Page.setLifecycleEventsEnabled', { enabled: true }),
      session.send('Runtime.addBinding', { name: VITALS_BINDING, executionContextName: VITALS_WORLD }),
      session.send('Page.addScriptToEvaluateOnNewDocument', { source: native.codeOfPage('vitals'), worldName: VITALS_WORLD }),
      session.send('Runtime.enable'),
      session.send('Network.enable'),
      session.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }),
      ...page.settings(context.options),
      ...context.initScripts.map((source) => session.send('Page.addScriptToEvaluateOnNewDocument', { source })),
    ]);
    if (context.options.httpCredentials) await page.network.updatePausing();
    await session.send('Runtime.runIfWaitingForDebugger');
    return page;
  }

  /** The commands that apply the options of the page's context. */
  settings(options) {
    const { session } = this;
    const commands = [session.send('Emulation.setFocusEmulationEnabled', { enabled: true })];
    const add = (method, params) => commands.push(session.send(method, params).catch((error) => {
      // Locale and time zone apply to the process, which a page shares with the page that opened it.
      if (!/override is already in effect/.test(error.message)) throw error;
    }));
    if (this.viewport) commands.push(this.applyViewport());
    const locale = options.locale ?? 'en-US';
    add('Emulation.setUserAgentOverride', { userAgent: options.userAgent ?? wire.userAgent, acceptLanguage: locale });
    add('Emulation.setLocaleOverride', { locale });
    if (options.timezoneID ?? options.timezoneId) add('Emulation.setTimezoneOverride', { timezoneId: options.timezoneID ?? options.timezoneId });
    if (options.bypassCSP) add('Page.setBypassCSP', { enabled: true });
    if (options.ignoreHTTPSErrors) add('Security.setIgnoreCertificateErrors', { ignore: true });
    if (options.javaScriptEnabled === false) add('Emulation.setScriptExecutionDisabled', { value: true });
    if (options.hasTouch) add('Emulation.setTouchEmulationEnabled', { enabled: true });
    if (options.geolocation) add('Emulation.setGeolocationOverride', options.geolocation);
    if (options.extraHTTPHeaders) add('Network.setExtraHTTPHeaders', { headers: options.extraHTTPHeaders });
    if (options.offline) commands.push(this.setOffline(true));
    if (options.colorScheme || options.reducedMotion) commands.push(this.emulateMedia({}));
    return commands;
  }

  setOffline(offline) {
    this.offline = offline;
    return this.applyNetwork();
  }

  applyNetwork() {
    const { latency = 0, download = -1, upload = -1 } = this.networkProfile ?? {};
    return this.session.send('Network.emulateNetworkConditions', {
      offline: Boolean(this.offline), latency, downloadThroughput: download, uploadThroughput: upload,
    });
  }

  applyViewport() {
    const { width, height } = this.viewport;
    const { deviceScaleFactor = 1, isMobile = false, screen } = this.context_.options;
    return this.session.send('Emulation.setDeviceMetricsOverride', {
      width, height, deviceScaleFactor, mobile: isMobile, screenWidth: screen?.width ?? width, screenHeight: screen?.height ?? height,
    });
  }

  /** Follows the page's frames and messages. */
  follow() {
    const { session } = this;
    session.on('Page.frameAttached', ({ frameId, parentFrameId }) => this.addFrame(frameId, this.framesById.get(parentFrameId)));
    session.on('Page.frameNavigated', ({ frame }) => this.navigated(frame));
    session.on('Page.navigatedWithinDocument', ({ frameId, url }) => {
      const frame = this.framesById.get(frameId);
      if (!frame) return;
      frame.url_ = url;
      session.emit('navigated', { frame });
    });
    session.on('Page.frameDetached', ({ frameId, reason }) => {
      if (reason !== 'swap') this.removeFrame(this.framesById.get(frameId));
    });
    session.on('Page.lifecycleEvent', ({ frameId, loaderId, name }) => {
      const frame = this.framesById.get(frameId);
      if (!frame) return;
      if (name === 'init') {
        frame.lifecycle.clear();
        frame.loader = loaderId;
      }
      frame.lifecycle.add(name);
      session.emit('lifecycle', { frame, name });
    });
    session.on('Runtime.executionContextCreated', ({ context }) => this.addWorld(context));
    session.on('Runtime.executionContextDestroyed', ({ executionContextId }) => this.removeWorld(executionContextId));
    session.on('Runtime.executionContextsCleared', () => {
      for (const id of [...this.worlds.keys()]) this.removeWorld(id);
    });
    session.on('Runtime.bindingCalled', ({ name, payload }) => {
      if (name === VITALS_BINDING) this.vital(JSON.parse(payload));
    });
    session.on('Runtime.consoleAPICalled', (event) => this.consoleCalled(event));
    session.on('Page.javascriptDialogOpening', ({ type }) => {
      // As in k6: there is nobody to decide, so dialogs are dismissed, and leaving a page is allowed.
      session.tell('Page.handleJavaScriptDialog', { accept: type === 'beforeunload' });
    });
    session.on('Page.windowOpen', () => this.context_.followPopups(this));
    session.on('Target.attachedToTarget', (event) => this.attached(event));
    session.on('Target.detachedFromTarget', ({ sessionId }) => this.workers_.delete(sessionId));
    session.on('Inspector.targetCrashed', () => this.session.wire.detached(session.id, 'the page crashed'));
    session.on('detached', () => {
      this.recordVitals();
      this.closed = true;
      this.context_.pages_.delete(this);
    });
  }

  attached({ sessionId, targetInfo }) {
    const { wire: own } = this.session;
    if (targetInfo.type.includes('worker')) this.workers_.set(sessionId, new Worker(targetInfo.url));
    own.send(sessionId, 'Runtime.runIfWaitingForDebugger', {}).catch(() => {});
  }

  addTree({ frame, childFrames = [] }, parent) {
    this.addFrame(frame.id, parent);
    const known = this.framesById.get(frame.id);
    known.loader ??= frame.loaderId;
    if (!known.url_) known.url_ = frame.url;
    known.name_ = frame.name ?? '';
    for (const child of childFrames) this.addTree(child, known);
  }

  addFrame(id, parent) {
    if (this.framesById.has(id)) return;
    const frame = new Frame(this, id, parent);
    if (!parent) this.main = frame;
    this.framesById.set(id, frame);
    for (const world of this.worlds.values()) {
      if (world.frameId === id && world.isMain) [frame.context, world.frame] = [world, frame];
    }
  }

  removeFrame(frame) {
    if (!frame) return;
    for (const child of [...frame.children]) this.removeFrame(child);
    frame.detached = true;
    frame.parent?.children.delete(frame);
    this.framesById.delete(frame.id);
    this.session.emit('context', frame);
    this.session.emit('lifecycle', { frame });
  }

  navigated({ id, parentId, loaderId, name, url, urlFragment }) {
    // The main frame may get another id when its process changes.
    if (!this.framesById.has(id) && !parentId && this.main) {
      this.framesById.delete(this.main.id);
      this.main.id = id;
      this.framesById.set(id, this.main);
    }
    this.addFrame(id, this.framesById.get(parentId));
    const frame = this.framesById.get(id);
    for (const child of [...frame.children]) this.removeFrame(child);
    frame.url_ = url + (urlFragment ?? '');
    frame.name_ = name ?? '';
    if (frame === this.main) this.recordVitals();
    if (frame.loader !== loaderId) {
      frame.loader = loaderId;
      frame.lifecycle.clear();
    }
    this.session.emit('navigated', { frame, loader: loaderId });
  }

  addWorld({ id, name, auxData }) {
    const world = { id, session: this.session, frameId: auxData?.frameId, isMain: Boolean(auxData?.isDefault), frame: null, helper: null };
    world.frame = this.framesById.get(world.frameId) ?? null;
    this.worlds.set(id, world);
    if (name === VITALS_WORLD && (!this.main || world.frameId === this.main.id)) this.vitalsWorld = id;
    if (world.isMain && world.frame) {
      world.frame.context = world;
      this.session.emit('context', world.frame);
    }
  }

  removeWorld(id) {
    const world = this.worlds.get(id);
    this.worlds.delete(id);
    if (world?.frame?.context === world) world.frame.context = null;
    if (this.vitalsWorld === id) this.vitalsWorld = null;
  }

  /** The frame inside an <iframe> element. */
  async frameOf(element) {
    const { node } = await this.session.send('DOM.describeNode', { objectId: element.remote.objectId });
    if (!node.frameId || !['IFRAME', 'FRAME'].includes(node.nodeName)) return null;
    return this.framesById.get(node.frameId) ?? null;
  }

  /** Records a vital. If it can still change, keeps it until the document ends. */
  vital(vital) {
    if (vital.isFinal) this.recordVital(vital);
    else this.vitals.set(vital.name, vital);
  }

  recordVital({ name, value, rating, url }) {
    this.session.sample(`browser_web_vital_${name}`, value, { name: this.nameOf(url), url, rating });
  }

  recordVitals() {
    for (const vital of this.vitals.values()) this.recordVital(vital);
    this.vitals.clear();
  }

  /** The name for a URL in samples: the URL itself, unless a listener groups it. */
  nameOf(url, method) {
    for (const listener of this.metricListeners) {
      const message = new MetricMessage(this);
      message.url_ = url;
      message.method_ = method;
      try {
        listener(message);
      } catch (error) {
        native.log('error', `a listener of "metric" failed: ${error}`);
      }
      if (message.found !== undefined) return message.found;
    }
    return url;
  }

  consoleCalled({ type, args, executionContextId }) {
    const text = args.map(shownArgument).join(' ');
    if (debugs) native.log('debug', `console.${type}: ${text}`);
    if (!this.session.has('console')) return;
    const world = this.worlds.get(executionContextId) ?? { session: this.session, frame: this.main };
    this.session.emit('console', new ConsoleMessage(this, args.map((remote) => handleOf(world, remote)), text, type));
  }

  on(event, listener) {
    if (!PAGE_EVENTS.includes(event)) {
      throw new Error(`unknown page on event: "${event}", must be one of ${PAGE_EVENTS.map((name) => `"${name}"`).join(', ')}`);
    }
    if (typeof listener !== 'function') throw new TypeError(`page.on("${event}") requires a function`);
    const bound = native.bind(listener);
    if (event === 'metric') {
      this.metricListeners.push(bound);
      return;
    }
    this.session.on(event, (value) => {
      try {
        bound(value);
      } catch (error) {
        native.log('error', `a listener of "${event}" failed: ${error}`);
      }
    });
  }

  async waitForEvent(event, given) {
    if (!PAGE_EVENTS.includes(event) || event === 'metric') throw new Error(`waitForEvent: unknown page event "${event}"`);
    return waitForEvent(this.session, event, given, this.defaultTimeout());
  }

  async waitForRequest(url, options) {
    const matches = urlMatcher(url);
    return this.session.wait(['request'], (request) => (matches(request.url()) ? request : undefined), timeoutOf(options, this),
      `waiting for a request of "${url}"`);
  }

  async waitForResponse(url, options) {
    const matches = urlMatcher(url);
    return this.session.wait(['response'], (response) => (matches(response.url()) ? response : undefined), timeoutOf(options, this),
      `waiting for a response of "${url}"`);
  }

  context() {
    return this.context_;
  }

  opener() {
    return Promise.resolve(this.opener_?.closed ? null : this.opener_);
  }

  mainFrame() {
    return this.main;
  }

  frames() {
    return [...this.framesById.values()];
  }

  isClosed() {
    return this.closed;
  }

  viewportSize() {
    return this.viewport;
  }

  workers() {
    return [...this.workers_.values()];
  }

  defaultTimeout() {
    return this.timeouts.all ?? this.context_.timeouts.all ?? DEFAULT_TIMEOUT;
  }

  navigationTimeout() {
    return this.timeouts.navigation ?? this.context_.timeouts.navigation ?? this.defaultTimeout();
  }

  setDefaultTimeout(timeout) {
    this.timeouts.all = Number(timeout);
  }

  setDefaultNavigationTimeout(timeout) {
    this.timeouts.navigation = Number(timeout);
  }

  async bringToFront() {
    await this.session.send('Page.bringToFront');
  }

  async close() {
    if (this.closed) return;
    await this.flushVitals();
    const ended = this.session.wait([], () => undefined, DEFAULT_TIMEOUT, 'close');
    // Closing ends the session, which rejects the wait with `Closed`.
    const gone = ended.catch((error) => {
      if (!(error instanceof Closed)) throw error;
    });
    await connected().root.send('Target.closeTarget', { targetId: this.targetId });
    await gone;
  }

  /** Makes the page report its vitals that are known only at its end. */
  async flushVitals() {
    if (this.vitalsWorld === null || this.closed) return;
    await this.session.send('Runtime.evaluate', { expression: 'plimsollFlush()', contextId: this.vitalsWorld }, GRACE).catch(() => {});
    this.recordVitals();
  }

  async emulateMedia({ colorScheme, media, reducedMotion } = {}) {
    Object.assign(this.media, colorScheme !== undefined && { colorScheme }, reducedMotion !== undefined && { reducedMotion },
      media !== undefined && { media });
    const features = [];
    if (this.media.colorScheme) features.push({ name: 'prefers-color-scheme', value: this.media.colorScheme });
    if (this.media.reducedMotion) features.push({ name: 'prefers-reduced-motion', value: this.media.reducedMotion });
    await this.session.send('Emulation.setEmulatedMedia', { media: this.media.media ?? '', features });
  }

  async emulateVisionDeficiency(type) {
    await this.session.send('Emulation.setEmulatedVisionDeficiency', { type: String(type) });
  }

  async reload(options) {
    await this.flushVitals();
    const arrived = waitForNavigation(this.main, options);
    arrived.catch(() => {});
    await this.session.send('Page.reload');
    return arrived;
  }

  goBack(options) {
    return goInHistory(this, -1, options);
  }

  goForward(options) {
    return goInHistory(this, 1, options);
  }

  async route(url, handler) {
    if (typeof handler !== 'function') throw new TypeError('page.route requires a function');
    this.network.routes.push({ url, matches: urlMatcher(url), handler: native.bind(handler) });
    await this.network.updatePausing();
  }

  async unroute(url) {
    this.network.routes = this.network.routes.filter((route) => String(route.url) !== String(url));
    await this.network.updatePausing();
  }

  async unrouteAll() {
    this.network.routes = [];
    await this.network.updatePausing();
  }

  async screenshot(options = {}) {
    const { path, fullPage, clip, omitBackground, quality } = options;
    const type = options.type ?? (/\.jpe?g$/i.test(path ?? '') ? 'jpeg' : 'png');
    if (!['png', 'jpeg'].includes(type)) throw new Error(`screenshot: the type is png or jpeg, not ${type}`);
    if (omitBackground) await this.session.send('Emulation.setDefaultBackgroundColorOverride', { color: { r: 0, g: 0, b: 0, a: 0 } });
    let area = clip && { ...clip, scale: 1 };
    if (fullPage) {
      const { cssContentSize } = await this.session.send('Page.getLayoutMetrics');
      area = { ...cssContentSize, scale: 1 };
    } else if (area) {
      const { cssVisualViewport } = await this.session.send('Page.getLayoutMetrics');
      area.x += cssVisualViewport.pageX;
      area.y += cssVisualViewport.pageY;
    }
    const { data } = await this.session.send('Page.captureScreenshot', {
      format: type, quality: type === 'jpeg' ? (quality ?? 100) : undefined, clip: area || undefined, captureBeyondViewport: Boolean(area),
    });
    if (omitBackground) await this.session.send('Emulation.setDefaultBackgroundColorOverride');
    const bytes = native.bytesOfBase64(data);
    if (path) native.writeFile(String(path), bytes);
    return bytes;
  }

  async setExtraHTTPHeaders(headers) {
    await this.session.send('Network.setExtraHTTPHeaders', { headers: { ...this.context_.options.extraHTTPHeaders, ...headers } });
  }

  async setViewportSize({ width, height }) {
    this.viewport = { width, height };
    await this.applyViewport();
  }

  async throttleCPU({ rate }) {
    await this.session.send('Emulation.setCPUThrottlingRate', { rate });
  }

  async throttleNetwork(profile) {
    this.networkProfile = profile;
    await this.applyNetwork();
  }

  content() {
    return this.main.content();
  }

  title() {
    return this.main.title();
  }

  url() {
    return this.main.url();
  }
}

/** Waits for an event that a predicate accepts. The predicate is the argument, or in an object with a timeout. */
function waitForEvent(emitter, event, given, defaultTimeout) {
  const accepts = typeof given === 'function' ? given : given?.predicate;
  const predicate = typeof accepts === 'function' ? native.bind(accepts) : accepts;
  const timeout = typeof given === 'object' && given?.timeout !== undefined ? Number(given.timeout) : defaultTimeout;
  return emitter.wait([event], (value) => (!predicate || predicate(value) ? value : undefined), timeout, `waiting for event "${event}"`);
}

const debugs = /^(1|t|true)$/i.test(native.env('K6_BROWSER_DEBUG') ?? '');

// Methods that a page delegates to its main frame.
for (const name of [
  '$', '$$', 'evaluate', 'evaluateHandle', 'goto', 'setContent', 'waitForFunction', 'waitForLoadState', 'waitForNavigation',
  'waitForSelector', 'waitForTimeout', 'waitForURL',
]) {
  define(Page, name, function (...args) {
    return this.main[name](...args);
  });
}
install(Page, (page) => ({ frame: page.main }), 'selector');

unsupported(Page, [
  'addInitScript', 'addLocatorHandler', 'addScriptTag', 'addStyleTag', 'dragAndDrop', 'exposeBinding', 'exposeFunction', 'frame',
  'frameLocator', 'off', 'once', 'pause', 'pdf', 'removeListener', 'requestGC', 'routeFromHAR', 'video', '$eval', '$$eval', 'coverage',
]);
