export const options = { vus: 1, tags: { suite: 'shop' }, thresholds: { checks: ['rate==1'] } };
