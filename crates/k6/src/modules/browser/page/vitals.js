// Web vitals of a page. They are measured in an isolated world that the page's scripts cannot see. A vital that can
// still change is reported with each change. The last value counts when the page is left or closed.
(() => {
  'use strict';
  if (globalThis.top !== globalThis) return;
  const limits = { cls: [0.1, 0.25], fcp: [1800, 3000], fid: [100, 300], inp: [200, 500], lcp: [2500, 4000], ttfb: [800, 1800] };
  const done = new Set();
  /** Reports a vital. A vital that is not final can be reported again. */
  const report = (name, value, isFinal) => {
    if (value === undefined || done.has(name)) return;
    if (isFinal) done.add(name);
    const [good, poor] = limits[name];
    const rating = value <= good ? 'good' : value <= poor ? 'needs-improvement' : 'poor';
    plimsollVital(JSON.stringify({ name, value, rating, url: location.href, isFinal }));
  };
  const observers = [];
  const observe = (type, each, options) => {
    try {
      const take = (entries) => entries.forEach(each);
      const observer = new PerformanceObserver((list) => take(list.getEntries()));
      observer.observe({ type, buffered: true, ...options });
      observers.push(() => take(observer.takeRecords()));
    } catch {
      // This browser version does not measure it.
    }
  };

  let hiddenAt = document.visibilityState === 'hidden' ? 0 : Infinity;
  // The time of a page that was activated after loading starts at the activation.
  const since = () => performance.getEntriesByType('navigation')[0]?.activationStart ?? 0;

  const timing = () => {
    const [navigation] = performance.getEntriesByType('navigation');
    if (!(navigation?.responseStart > 0)) return;
    report('ttfb', Math.max(navigation.responseStart - since(), 0), true);
  };
  addEventListener('load', () => setTimeout(timing), { once: true });

  // The first input ends this measurement.
  let isOver = false;
  observe('largest-contentful-paint', (entry) => {
    if (!isOver && entry.startTime < hiddenAt) report('lcp', Math.max(entry.startTime - since(), 0), false);
  });
  for (const type of ['keydown', 'click']) {
    addEventListener(type, (event) => event.isTrusted && setTimeout(() => { isOver = true; }), { capture: true });
  }

  // The largest sum of shifts in a session window: shifts at most 1 s apart, within at most 5 s.
  let shifted = 0;
  let session = { value: 0, first: 0, last: 0 };
  observe('layout-shift', (entry) => {
    if (entry.hadRecentInput) return;
    if (session.value && entry.startTime - session.last < 1000 && entry.startTime - session.first < 5000) {
      session.value += entry.value;
      session.last = entry.startTime;
    } else {
      session = { value: entry.value, first: entry.startTime, last: entry.startTime };
    }
    if (session.value > shifted) {
      shifted = session.value;
      report('cls', shifted, false);
    }
  });

  observe('paint', (entry) => {
    if (entry.name === 'first-contentful-paint' && entry.startTime < hiddenAt) {
      report('fcp', Math.max(entry.startTime - since(), 0), true);
      report('cls', shifted, false);
    }
  });

  observe('first-input', (entry) => {
    if (entry.startTime < hiddenAt) report('fid', entry.processingStart - entry.startTime, true);
    interacted(entry);
  });

  // The longest interactions: the 98th percentile of all. Up to 500 interactions, the 10 longest are enough for that.
  const longest = new Map();
  function interacted(entry) {
    if (!entry.interactionId) return;
    longest.set(entry.interactionId, Math.max(longest.get(entry.interactionId) ?? 0, entry.duration));
    if (longest.size > 10) {
      const [least] = [...longest].sort((a, b) => a[1] - b[1])[0];
      longest.delete(least);
    }
    report('inp', interaction(), false);
  }
  observe('event', interacted, { durationThreshold: 40 });
  const interaction = () => {
    const durations = [...longest.values()].sort((a, b) => b - a);
    return durations[Math.min(durations.length - 1, Math.floor((performance.interactionCount ?? durations.length) / 50))];
  };

  globalThis.plimsollFlush = () => {
    for (const take of observers) take();
    timing();
  };
  addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') hiddenAt = Math.min(hiddenAt, performance.now());
  }, { capture: true });
})();
