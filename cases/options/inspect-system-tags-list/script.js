export const options = { systemTags: ['status', 'method', 'own'] };
export default function () {}
