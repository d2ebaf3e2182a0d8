package pathmtu

// usual are limits that paths really have, each for a reason: what is left of 1500 or 9000
// below tunnels, and what switches and cards are built for.
var usual = []int{
	1280, 1300, 1350, 1380, 1400, 1410, // IPv6's least, IPsec, mobile networks
	1412, 1414, 1420, 1422, 1428, 1430, 1436, 1440, 1442, // WireGuard, PPPoE below tunnels
	1450, 1452, 1454, 1456, 1458, 1460, 1462, 1464, 1468, 1472, 1476, // VXLAN, MPLS, GRE
	1480, 1484, 1488, 1492, 1496, 1500, 1504, 1508, 1518, 1522, 1530, 1546, 1550, 1600, // IP in IP, PPPoE, VLAN
	1998, 2000, 2044, 2048, 2290, 2304, 3000, 4000, // old switches, InfiniBand, Wi-Fi
	4050, 4074, 4078, 4082, 4092, 4096, 4352, 4470, // cards with 4096-byte frames, FDDI, SONET
	6000, 7000, 7500, 8000, 8166, 8192, 8500, 8896, 8900, // Realtek's limits, clouds
	8920, 8940, 8942, 8950, 8958, 8966, 8970, 8972, 8976, 8980, 8986, 8992, 8996, 9000, 9001, // tunnels in jumbo frames
	9014, 9018, 9100, 9150, 9174, 9180, 9198, 9200, 9212, 9214, 9216, 9600, 9978, 10_000, 16_000, 16_110, 16_128, 32_000, 65_520,
}

// usualBetween gives the usual sizes strictly between two.
func usualBetween(low, high int) []int {
	var sizes []int
	for _, n := range usual {
		if n > low && n < high {
			sizes = append(sizes, n)
		}
	}
	return sizes
}

// pick chooses n of ascending sizes, evenly spread, in descending order.
func pick(sizes []int, n int) []int {
	n = min(n, len(sizes))
	chosen := make([]int, 0, n)
	for i := n; i >= 1; i-- {
		// With one, the middle; with all, all.
		at := (2*i - 1) * len(sizes) / (2 * n)
		chosen = append(chosen, sizes[at])
	}
	return chosen
}

// between chooses at most n sizes strictly between two, evenly spread, in descending
// order. There is one at least when there is room.
func between(low, high, n int) []int {
	n = min(n, high-low-1)
	sizes := make([]int, 0, max(n, 0))
	for i := n; i >= 1; i-- {
		sizes = append(sizes, low+(high-low)*i/(n+1))
	}
	return sizes
}
