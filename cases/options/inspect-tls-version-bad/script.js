export const options = { tlsVersion: 'tls9' };
export default function () {}
