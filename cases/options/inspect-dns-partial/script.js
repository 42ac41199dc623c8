export const options = { dns: { ttl: 'inf' } };
export default function () {}
