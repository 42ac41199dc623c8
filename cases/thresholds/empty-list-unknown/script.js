export const options = { thresholds: { nothing: [] } };
export default function () {}
