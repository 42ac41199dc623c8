export const options = { tlsVersion: { min: 'tls1.2' } };
export default function () {}
