// Devices to emulate (name, screen size and user agent), and networks.

const APPLE = 'Mozilla/5.0 (#) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1';
const ANDROID = 'Mozilla/5.0 (Linux; Android #) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36';

/** Name, part of the user agent, width, height, scale. */
const SCREENS = [
  ['Blackberry PlayBook', ANDROID, '4.4; PlayBook', 600, 1024, 1],
  ['BlackBerry Z30', ANDROID, '4.4; BB10', 360, 640, 2],
  ['Galaxy Note 3', ANDROID, '4.3; SM-N900T', 360, 640, 3],
  ['Galaxy Note II', ANDROID, '4.1; GT-N7100', 360, 640, 2],
  ['Galaxy S III', ANDROID, '4.0; GT-I9300', 360, 640, 2],
  ['Galaxy S5', ANDROID, '5.0; SM-G900P', 360, 640, 3],
  ['iPad', APPLE, 'iPad; CPU OS 16_6 like Mac OS X', 768, 1024, 2],
  ['iPad Mini', APPLE, 'iPad; CPU OS 16_6 like Mac OS X', 768, 1024, 2],
  ['iPad Pro', APPLE, 'iPad; CPU OS 16_6 like Mac OS X', 1024, 1366, 2],
  ['iPhone 4', APPLE, 'iPhone; CPU iPhone OS 7_1_2 like Mac OS X', 320, 480, 2],
  ['iPhone 5', APPLE, 'iPhone; CPU iPhone OS 10_3 like Mac OS X', 320, 568, 2],
  ['iPhone 6', APPLE, 'iPhone; CPU iPhone OS 12_5 like Mac OS X', 375, 667, 2],
  ['iPhone 6 Plus', APPLE, 'iPhone; CPU iPhone OS 12_5 like Mac OS X', 414, 736, 3],
  ['iPhone 7', APPLE, 'iPhone; CPU iPhone OS 15_8 like Mac OS X', 375, 667, 2],
  ['iPhone 7 Plus', APPLE, 'iPhone; CPU iPhone OS 15_8 like Mac OS X', 414, 736, 3],
  ['iPhone 8', APPLE, 'iPhone; CPU iPhone OS 16_6 like Mac OS X', 375, 667, 2],
  ['iPhone 8 Plus', APPLE, 'iPhone; CPU iPhone OS 16_6 like Mac OS X', 414, 736, 3],
  ['iPhone SE', APPLE, 'iPhone; CPU iPhone OS 15_8 like Mac OS X', 320, 568, 2],
  ['iPhone X', APPLE, 'iPhone; CPU iPhone OS 16_6 like Mac OS X', 375, 812, 3],
  ['iPhone XR', APPLE, 'iPhone; CPU iPhone OS 16_6 like Mac OS X', 414, 896, 3],
  ['JioPhone 2', ANDROID, '4.4; LYF/F300B', 240, 320, 1],
  ['Kindle Fire HDX', ANDROID, '4.4; KFAPWI', 800, 1280, 2],
  ['LG Optimus L70', ANDROID, '4.4.2; LGMS323', 384, 640, 1.25],
  ['Microsoft Lumia 550', ANDROID, '4.2.1; Lumia 550', 640, 360, 2],
  ['Microsoft Lumia 950', ANDROID, '4.2.1; Lumia 950', 360, 640, 4],
  ['Nexus 10', ANDROID, '6.0.1; Nexus 10', 800, 1280, 2],
  ['Nexus 4', ANDROID, '4.4.2; Nexus 4', 384, 640, 2],
  ['Nexus 5', ANDROID, '6.0; Nexus 5', 360, 640, 3],
  ['Nexus 5X', ANDROID, '8.0.0; Nexus 5X', 412, 732, 2.625],
  ['Nexus 6', ANDROID, '7.1.1; Nexus 6', 412, 732, 3.5],
  ['Nexus 6P', ANDROID, '8.0.0; Nexus 6P', 412, 732, 3.5],
  ['Nexus 7', ANDROID, '6.0.1; Nexus 7', 600, 960, 2],
  ['Nokia Lumia 520', ANDROID, '4.2.1; Lumia 520', 320, 533, 1.5],
  ['Nokia N9', ANDROID, '4.2; NokiaN9', 480, 854, 1],
  ['Pixel 2', ANDROID, '8.0; Pixel 2', 411, 731, 2.625],
  ['Pixel 2 XL', ANDROID, '8.0.0; Pixel 2 XL', 411, 823, 3.5],
];

const devices = {};
for (const [name, agent, system, width, height, deviceScaleFactor] of SCREENS) {
  const common = { userAgent: agent.replace('#', system), deviceScaleFactor, isMobile: true, hasTouch: true };
  devices[name] = { name, viewport: { width, height }, ...common };
  const landscape = `${name} landscape`;
  if (name !== 'Microsoft Lumia 550' && name !== 'Nokia Lumia 520') {
    devices[landscape] = { name: landscape, viewport: { width: height, height: width }, ...common };
  }
}

/** Latency in milliseconds, and bytes per second. */
const networkProfiles = {
  'No Throttling': { latency: 0, download: -1, upload: -1 },
  'Fast 3G': { latency: 150, download: (1.6 * 1000 * 1000) / 8, upload: (750 * 1000) / 8 },
  'Slow 3G': { latency: 400, download: (500 * 1000) / 8, upload: (500 * 1000) / 8 },
};
