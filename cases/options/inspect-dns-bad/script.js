export const options = { dns: { ttl: '5m', select: 'best' } };
export default function () {}
