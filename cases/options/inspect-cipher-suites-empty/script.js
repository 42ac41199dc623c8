export const options = { tlsCipherSuites: [] };
export default function () {}
