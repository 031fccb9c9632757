package pool

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// RowState is a row's part of the pool at one moment.
type RowState struct {
	Row
	Policy  Policy
	Used    uint32 // connections in use, with those that log in
	Free    uint32
	Waiting uint32 // statements that wait for a connection to the hostgroup
}

// State gives all rows that have been used, by hostgroup and address.
func (p *Shared) State() []RowState {
	var all []RowState
	for _, at := range p.all() {
		policy := p.policy(at.Row)
		at.group.mu.Lock()
		all = append(all, RowState{at.Row, policy, at.used.Load(), uint32(len(at.free)), uint32(len(at.group.queue))})
		at.group.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b RowState) int {
		return cmp.Or(cmp.Compare(a.Hostgroup, b.Hostgroup), cmp.Compare(a.Addr, b.Addr))
	})
	return all
}

var (
	connectionsDesc = prometheus.NewDesc("pointsman_gateway_pool_connections", "Connections to servers by state: used or free.", []string{"hostgroup", "server", "state"}, nil)
	waitingDesc     = prometheus.NewDesc("pointsman_gateway_pool_waiting", "Statements that wait for a connection to a hostgroup.", []string{"hostgroup"}, nil)
)

// Describe tells the gauges of the pool.
func (p *Shared) Describe(out chan<- *prometheus.Desc) {
	out <- connectionsDesc
	out <- waitingDesc
}

// Collect gives the gauges of the pool as they are.
func (p *Shared) Collect(out chan<- prometheus.Metric) {
	told := map[int32]bool{}
	for _, s := range p.State() {
		hostgroup := strconv.Itoa(int(s.Hostgroup))
		out <- prometheus.MustNewConstMetric(connectionsDesc, prometheus.GaugeValue, float64(s.Used), hostgroup, s.Addr, "used")
		out <- prometheus.MustNewConstMetric(connectionsDesc, prometheus.GaugeValue, float64(s.Free), hostgroup, s.Addr, "free")
		if !told[s.Hostgroup] {
			told[s.Hostgroup] = true
			out <- prometheus.MustNewConstMetric(waitingDesc, prometheus.GaugeValue, float64(s.Waiting), hostgroup)
		}
	}
}
